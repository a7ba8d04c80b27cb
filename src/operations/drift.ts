import type { Approval } from '../core/approval.ts';
import { Fault } from '../core/fault.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import type { AskTerms } from '../core/policy.ts';
import type { ApprovalChange, LockedApproval } from '../core/ports.ts';
import { areRequirementsMet } from '../core/requirements.ts';
import type { Deps } from './deps.ts';
import { judgeApprover, redecide } from './redecide.ts';
import { termsOf } from './terms.ts';

export type DriftVerdict =
  | { kind: 'current'; terms: Pick<AskTerms, 'requirements' | 'selfApproval'>; changes: [] }
  | { kind: 'revalidated'; terms: AskTerms; changes: [ApprovalChange] }
  | { kind: 'voided'; changes: [ApprovalChange] };

const VOIDED: DriftVerdict = { kind: 'voided', changes: [{ kind: 'void', voidReason: 'policy' }] };
const MS_PER_SECOND = 1000;

/** When an approval ends under other terms: never later than before. */
export function shortenExpiry(from: Date, ttlSeconds: number | null, expiresAt: Date): Date {
  if (ttlSeconds === null) return expiresAt;
  return new Date(Math.min(expiresAt.getTime(), from.getTime() + ttlSeconds * MS_PER_SECOND));
}

/** Whether everyone whose vote counts may still approve on the new terms, and enough did if it is approved. */
function doVotesHold(deps: Deps, approval: Approval, terms: AskTerms): boolean {
  const eligible = approval.votes.every((vote) => {
    const approver = { principal: vote.approver, groups: vote.groups, roles: ['approver'] as const };
    return judgeApprover(deps, approval, 'approve', approver, terms).kind === 'permitted';
  });
  if (!eligible || terms.requirements.signature !== 'none') return false;
  return approval.status === 'pending' || areRequirementsMet(terms.requirements, approval.votes);
}

/**
 * NO SILENT DRIFT: re-examines an approval that was decided under another revision than the active one. `strict`
 * voids it; `revalidate` decides the frozen action again under its stored context and goes on only if that is no
 * deny, the votes hold under the new terms, and its age is within the new ttl. The record names both revisions.
 * @throws Fault `unavailable` when the active set is not loaded here.
 */
export function examineDrift(deps: Deps, locked: LockedApproval): DriftVerdict {
  const { approval } = locked;
  if (approval.policyRevision === locked.activeRevision) {
    return { kind: 'current', terms: approval, changes: [] };
  }
  const decision = redecide(deps, locked, parseToolCall(approval.canonicalAction));
  const terms = termsOf(decision);
  if (deps.settings.policyDrift === 'strict' || terms === undefined) return VOIDED;
  const expiresAt = shortenExpiry(approval.createdAt, terms.ttlSeconds, approval.expiresAt);
  if (expiresAt <= approval.readAt || !doVotesHold(deps, approval, terms)) return VOIDED;
  return { kind: 'revalidated', terms, changes: [{ kind: 'revalidate', terms, decision, expiresAt }] };
}

/** The fault for an approval that this very call found drifted and voided. */
export function policyChanged(): Fault {
  return new Fault(
    'policy_changed',
    'policy has changed since this was asked, and the approval does not hold under the new rules: it was voided. Ask anew',
    { members: { approval_status: 'voided', void_reason: 'policy' } },
  );
}
