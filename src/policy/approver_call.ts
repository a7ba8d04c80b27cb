import type { Approver, ApproverDecision } from '../core/policy.ts';
import type { PolicyFacts } from './annotations.ts';
import { agentUid, approverUid } from './call_facts.ts';
import type { CedarCall, EntityJson } from './cedar.ts';
import { factsOfAll } from './denies.ts';
import { evaluateSlice } from './evaluate_slice.ts';
import { entityUid } from './model.ts';
import type { LoadedSet } from './prepare_call.ts';

export type RefusalCode = Extract<ApproverDecision, { kind: 'refused' }>['code'];

/** Codes in the order in which one is told when several policies refuse. */
const CODES: readonly RefusalCode[] = [
  'self_approval_forbidden',
  'scope_not_allowed',
  'approver_not_eligible',
];

const UNEVALUATED = 'the policies on approvers could not be evaluated';

/** What an approver wants to do, to what. */
export interface ApproverCall {
  action: string;
  approver: Approver;
  /** The resource first, then the entities that it refers to. */
  resource: EntityJson & { uid: CedarCall['resource'] };
  others: EntityJson[];
  /** The end of a refusal: who could. */
  whoCould: string;
}

/** Asks Cedar about an approver. FAIL CLOSED: whatever goes wrong is a refusal. */
export function judgeCall(set: LoadedSet, call: ApproverCall): ApproverDecision {
  const slice = set.getSlice(call.action, call.approver.principal.toLowerCase());
  const answer = evaluateSlice(slice, () => buildCall(call));
  if (answer.kind !== 'answered') return refuseUnevaluated();
  if (answer.decision === 'allow') return { kind: 'permitted' };
  return refuseBy(factsOfAll(slice, answer.reason), call.whoCould);
}

/** The refusal where Cedar's answer stands for nothing. */
export function refuseUnevaluated(): ApproverDecision {
  return { kind: 'refused', code: 'approver_not_eligible', reason: UNEVALUATED };
}

function refuseBy(forbids: readonly PolicyFacts[], whoCould: string): ApproverDecision {
  const reasons = forbids.map((policy) => policy.reason ?? `policy \`${policy.id}\` forbids it`);
  const named = CODES.find((code) => forbids.some((policy) => policy.code === code));
  return {
    kind: 'refused',
    code: named ?? 'approver_not_eligible',
    reason: [...reasons, whoCould].join('; '),
  };
}

function buildCall({ action, approver, resource, others }: ApproverCall): CedarCall {
  const principal = approverUid(approver.principal);
  const attrs = { roles: [...approver.roles], as_agent: { __entity: agentUid(approver.principal) } };
  const parents = approver.groups.map((group) => entityUid('Group', group));
  return {
    principal,
    action: entityUid('Action', action),
    resource: resource.uid,
    context: {},
    entities: [{ uid: principal, attrs, parents }, resource, ...others],
  };
}
