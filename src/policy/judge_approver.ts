import type { ApproverAction, ApproverDecision, ApproverRequest } from '../core/policy.ts';
import type { PolicyFacts } from './annotations.ts';
import { approverUid } from './call_facts.ts';
import { type CedarCall, evaluate } from './cedar.ts';
import type { LoadedSet } from './decide.ts';
import { entityUid } from './model.ts';

const WHO_COULD: Record<ApproverAction, string> = {
  approve: 'an approver other than those behind the action may approve',
  reject: 'an approver may reject',
  edit: 'an approver may edit',
  cancel: 'the asking agent, an operator, or an approver whose vote is on it may cancel',
};

/**
 * Asks Cedar whether an approver may do something to an approval. NO SELF-APPROVAL is a forbid among the
 * policies, whose `@code` names the problem. FAIL CLOSED: whatever goes wrong is a refusal.
 */
export function judgeApprover(set: LoadedSet, request: ApproverRequest): ApproverDecision {
  try {
    const slice = set.slices.get(request.action);
    const answer = slice && evaluate(slice.preparedName, buildApproverCall(request));
    if (answer?.kind !== 'answered') {
      return refuse('approver_not_eligible', 'the policies on approvers could not be evaluated');
    }
    if (answer.decision === 'allow') {
      return { kind: 'permitted' };
    }
    return refuseBy(
      answer.reason.flatMap((id) => set.policies.get(id) ?? []),
      WHO_COULD[request.action],
    );
  } catch {
    return refuse('approver_not_eligible', 'the policies on approvers could not be evaluated');
  }
}

function refuseBy(forbids: readonly PolicyFacts[], whoCould: string): ApproverDecision {
  const isSelfApproval = forbids.some((policy) => policy.code === 'self_approval_forbidden');
  const reasons = forbids.map((policy) => policy.reason ?? `policy \`${policy.id}\` forbids it`);
  const code = isSelfApproval ? 'self_approval_forbidden' : 'approver_not_eligible';
  return refuse(code, [...reasons, whoCould].join('; '));
}

function refuse(code: 'self_approval_forbidden' | 'approver_not_eligible', reason: string): ApproverDecision {
  return { kind: 'refused', code, reason };
}

function buildApproverCall({ action, approver, approval }: ApproverRequest): CedarCall {
  const principal = approverUid(approver.principal);
  const resource = entityUid('Approval', approval.approvalId);
  return {
    principal,
    action: entityUid('Action', action),
    resource,
    context: {},
    entities: [
      {
        uid: principal,
        attrs: { roles: [...approver.roles], as_agent: { __entity: agentUid(approver.principal) } },
        parents: approver.groups.map((group) => entityUid('Group', group)),
      },
      { uid: resource, attrs: approvalAttributes(approval), parents: [] },
    ],
  };
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

function agentUid(principal: string) {
  return entityUid('Agent', principal.toLowerCase());
}
