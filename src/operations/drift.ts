import { type Approval, presentVotes } from '../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { parseToolCall } from '../core/parse_tool_call.ts';
import type { PolicySet } from '../core/policy.ts';
import { areRequirementsMet } from '../core/requirements.ts';
import type { Deps } from './deps.ts';
import { maskerOf } from './masking.ts';
import { judgeApprover, redecide } from './redecide.ts';
import { renderFor } from './review.ts';
import { termsOf } from './terms.ts';

/** `approval` is as it stands under the active rules, once `changes` are written. */
export type DriftVerdict =
  | { kind: 'current' | 'revalidated'; approval: Approval; changes: ApprovalChange[] }
  | { kind: 'voided'; changes: ApprovalChange[] };

const VOIDED: DriftVerdict = { kind: 'voided', changes: [{ kind: 'void', voidReason: 'policy' }] };
const MS_PER_SECOND = 1000;

/** When an approval ends under other terms: never later than before. */
export function shortenExpiry(from: Date, ttlSeconds: number | null, expiresAt: Date): Date {
  if (ttlSeconds === null) return expiresAt;
  return new Date(Math.min(expiresAt.getTime(), from.getTime() + ttlSeconds * MS_PER_SECOND));
}

/** Whether everyone whose vote counts may still approve, and enough did if it is approved. */
function doVotesHold(policy: PolicySet, approval: Approval): boolean {
  const eligible = approval.votes.every((vote) => {
    const approver = { principal: vote.approver, groups: vote.groups, roles: ['approver'] as const };
    return judgeApprover(policy, approval, 'approve', approver).kind === 'permitted';
  });
  // A signature names the revision that it was given under, and does not count under another one.
  const isSignatureAsked = approval.requirements.signature !== 'none';
  if (!eligible || (isSignatureAsked && approval.votes.length > 0)) return false;
  return approval.status === 'pending' || areRequirementsMet(approval.requirements, approval.votes);
}

/**
 * NO SILENT DRIFT: re-examines an approval that was decided under another revision than the active one. `strict`
 * voids it; `revalidate` decides the frozen action again under its stored context and goes on only if that is no
 * deny, the votes hold under the new terms, and its age is within the new ttl. The record names both revisions. What
 * is shown is rendered anew: the rules may know more of the tool, or less.
 */
export function examineDrift(
  deps: Deps,
  policy: PolicySet,
  locked: LockedApproval,
  caller: Caller,
): DriftVerdict {
  const { approval } = locked;
  const isCurrent = approval.policyRevision === locked.activeRevision;
  // Exec approvals move without a revision: a command is always decided anew by what they say now.
  if (isCurrent && approval.reviewFacts?.command == null) return { kind: 'current', approval, changes: [] };
  const decision = redecide(policy, locked, parseToolCall(approval.canonicalAction));
  if (isCurrent) return decision.decision === 'deny' ? VOIDED : { kind: 'current', approval, changes: [] };
  const terms = termsOf(decision);
  if (deps.settings.policyDrift === 'strict' || terms === undefined) return VOIDED;
  const expiresAt = shortenExpiry(approval.createdAt, terms.ttlSeconds, approval.expiresAt);
  const { requirements, selfApproval, maxScope } = terms;
  const votes = presentVotes(approval.votes);
  const { resolved, reviewFacts, secretParameters, policyRevision, toolFactsHash } = decision;
  const review = renderFor(approval, decision, maskerOf(caller));
  const shown = { resolved, reviewFacts, secretParameters, review };
  const bound = { policyRevision, toolFactsHash, expiresAt };
  const renewed = { ...approval, votes, requirements, selfApproval, maxScope, ...shown, ...bound };
  if (expiresAt <= approval.readAt || votes.length < approval.votes.length) return VOIDED;
  if (!doVotesHold(policy, renewed)) return VOIDED;
  const changes: ApprovalChange[] = [{ kind: 'revalidate', terms, decision, expiresAt, review }];
  return { kind: 'revalidated', approval: renewed, changes };
}

/** The fault for an approval that this very call found drifted and voided. */
export function policyChanged(): Fault {
  return new Fault(
    'policy_changed',
    'policy has changed since this was asked, and the approval does not hold under the new rules: it was voided. Ask anew',
    { members: { approval_status: 'voided', void_reason: 'policy' } },
  );
}
