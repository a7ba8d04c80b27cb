import type { ToolCall } from '../core/action.ts';
import { type Approval, editorsOf } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { unavailable } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type {
  ApproverAction,
  ApproverDecision,
  Decision,
  Requirements,
  SelfApproval,
} from '../core/policy.ts';
import type { LockedApproval } from '../core/ports.ts';
import type { Deps } from './deps.ts';

/**
 * Decides an action of a locked approval anew, under its stored context.
 * @throws Fault `unavailable` when the set loaded here is not the tenant's active one: no cached rule decides.
 */
export function redecide(deps: Deps, locked: LockedApproval, toolCall: ToolCall): Decision {
  const policy = deps.policy.current();
  if (policy.revision !== locked.activeRevision) {
    throw unavailable(new Error('the active policy revision is not the one loaded here'));
  }
  const { approval, agentGroups } = locked;
  return policy.decide({
    agent: { principal: approval.agent, groups: agentGroups, owner: approval.owner },
    toolCall,
    context: approval.context,
    now: deps.now(),
  });
}

/** Asks policy whether a principal may do something to an approval on the given terms. */
export function judgeApprover(
  deps: Deps,
  approval: Approval,
  action: ApproverAction,
  approver: { principal: string; groups: readonly string[]; roles: Caller['roles'] },
  terms: { requirements: Requirements; selfApproval: readonly SelfApproval[] },
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
      requiredGroups: terms.requirements.groups,
      selfApproval: terms.selfApproval,
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
  terms: { requirements: Requirements; selfApproval: readonly SelfApproval[] } = approval,
): void {
  const judged = judgeApprover(deps, approval, action, caller, terms);
  if (judged.kind === 'refused') throw new Fault(judged.code, judged.reason);
}
