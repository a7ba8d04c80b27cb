import type { ToolCall } from '../core/action.ts';
import { type Approval, editorsOf } from '../core/approval.ts';
import type { LockedApproval } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import type { Approver, ApproverAction, ApproverDecision, Decision, PolicySet } from '../core/policy.ts';
import { decideSettled, NOTHING_IN_THE_WAY } from '../core/settled_decision.ts';

/** Decides an action of a locked approval anew, under its stored context. */
export function redecide(policy: PolicySet, locked: LockedApproval, toolCall: ToolCall): Decision {
  const { approval, agent, exec } = locked;
  const request = {
    agent: { principal: approval.agent, owner: approval.owner, ...agent },
    toolCall,
    context: approval.context,
    paused: false,
    exec,
    // Which key asked is not looked at again: as if for none, an ask stays one.
    isSkill: false,
  };
  // This ask was put to people already.
  return decideSettled(policy, request, NOTHING_IN_THE_WAY);
}

/** An approval as far as it says who may do something to it. */
export type JudgedApproval = Pick<
  Approval,
  | 'approvalId'
  | 'agent'
  | 'owner'
  | 'edits'
  | 'resolved'
  | 'context'
  | 'requirements'
  | 'selfApproval'
  | 'votes'
>;

/** Asks policy whether a principal may do something to an approval, on the terms it has. */
export function judgeApprover(
  policy: PolicySet,
  approval: JudgedApproval,
  action: ApproverAction,
  approver: Approver,
): ApproverDecision {
  return policy.judgeApprover({
    action,
    approver,
    approval: {
      approvalId: approval.approvalId,
      agent: approval.agent,
      owner: approval.owner,
      editors: editorsOf(approval),
      resolved: approval.resolved,
      environment: approval.context.environment,
      requiredGroups: approval.requirements.groups,
      selfApproval: approval.selfApproval,
      hasOwnVote: approval.votes.some((vote) => vote.approver === approver.principal),
    },
  });
}

/** @throws Fault with policy's own code when the caller may not do this to the approval. */
export function assertPermitted(
  policy: PolicySet,
  approval: JudgedApproval,
  action: ApproverAction,
  caller: Caller,
): void {
  const judged = judgeApprover(policy, approval, action, caller);
  if (judged.kind === 'refused') throw new Fault(judged.code, judged.reason);
}
