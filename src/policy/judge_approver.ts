import type { ApproverAction, ApproverDecision, ApproverRequest } from '../core/policy.ts';
import { judgeCall, refuseUnevaluated } from './approver_call.ts';
import { agentUid, approverUid } from './call_facts.ts';
import { entityUid } from './model.ts';
import type { LoadedSet } from './prepare_call.ts';

const WHO_COULD: Record<ApproverAction, string> = {
  approve: 'an approver other than those behind the action may approve',
  reject: 'an approver may reject',
  edit: 'an approver may edit',
  cancel: 'the asking agent, an operator, or an approver whose vote is on it may cancel',
  widen: 'an approver other than those behind the action may widen a yes',
};

/**
 * Asks Cedar whether an approver may do something to an approval. NO SELF-APPROVAL is a forbid among the
 * policies, whose `@code` names the problem. FAIL CLOSED: whatever goes wrong is a refusal.
 */
export function judgeApprover(set: LoadedSet, request: ApproverRequest): ApproverDecision {
  try {
    const { action, approver, approval } = request;
    const uid = entityUid('Approval', approval.approvalId);
    const resource = { uid, attrs: approvalAttributes(approval), parents: [] };
    return judgeCall(set, { action, approver, resource, others: [], whoCould: WHO_COULD[action] });
  } catch {
    return refuseUnevaluated();
  }
}

function approvalAttributes(approval: ApproverRequest['approval']) {
  return {
    agent: { __entity: agentUid(approval.agent) },
    ...(approval.owner === null ? {} : { owner: { __entity: approverUid(approval.owner) } }),
    editors: approval.editors.map((editor) => ({ __entity: approverUid(editor) })),
    tool: approval.resolved.tool,
    action: approval.resolved.action,
    ...(approval.environment === null ? {} : { environment: approval.environment }),
    required_groups: [...approval.requiredGroups],
    self_approval_allowed: [...approval.selfApproval],
    has_own_vote: approval.hasOwnVote,
  };
}
