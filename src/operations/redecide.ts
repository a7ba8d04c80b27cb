import type { ToolCall } from '../core/action.ts';
import { type Approval, editorsOf } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { revisionNotLoaded } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { ApproverAction, ApproverDecision, Decision } from '../core/policy.ts';
import type { LockedApproval } from '../core/ports.ts';
import type { Deps } from './deps.ts';

/** @throws Fault `unavailable` unless the set loaded here is the tenant's active one. */
export function assertRevisionLoaded(deps: Deps, locked: LockedApproval): void {
  if (deps.policy.current().revision !== locked.activeRevision) throw revisionNotLoaded();
}

/**
 * Decides an action of a locked approval anew, under its stored context.
 * @throws Fault `unavailable` when the set loaded here is not the tenant's active one.
 */
export function redecide(deps: Deps, locked: LockedApproval, toolCall: ToolCall): Decision {
  assertRevisionLoaded(deps, locked);
  const { approval, agentGroups } = locked;
  return deps.policy.current().decide({
    agent: { principal: approval.agent, groups: agentGroups, owner: approval.owner },
    toolCall,
    context: approval.context,
    now: deps.now(),
  });
}

/** Asks policy whether a principal may do something to an approval, on the terms it has. */
export function judgeApprover(
  deps: Deps,
  approval: Approval,
  action: ApproverAction,
  approver: { principal: string; groups: readonly string[]; roles: Caller['roles'] },
): ApproverDecision {
  return deps.policy.current().judgeApprover({
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
  deps: Deps,
  approval: Approval,
  action: ApproverAction,
  caller: Caller,
): void {
  const judged = judgeApprover(deps, approval, action, caller);
  if (judged.kind === 'refused') throw new Fault(judged.code, judged.reason);
}
