import { type Approval, assertActionHash, assertState, assertVersion } from '../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { AgentExecRules } from '../core/exec_approvals.ts';
import { Fault } from '../core/fault.ts';
import { collectGrantTerms, computeGrantFingerprint, toGrantQuery } from '../core/grant.ts';
import type { PolicySet, Requirements } from '../core/policy.ts';
import {
  areRequirementsMet,
  type CountedVote,
  fillsOpenPlace,
  findOpenGroups,
} from '../core/requirements.ts';
import type { AssertionResponse } from '../core/webauthn_ports.ts';
import { assertLockedReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { examineDrift, policyChanged } from './drift.ts';
import { assertLearnable, toAllowlist } from './exec_approvals/learn.ts';
import { maskWords } from './masking.ts';
import { measureVote } from './measure_vote.ts';
import { assertPermitted } from './redecide.ts';
import { assertViewHash, isVoteForView } from './review.ts';
import { transitionByRules } from './transition.ts';
import {
  assertSignedWhereAsked,
  examineProof,
  findProofFault,
  type GivenProof,
  takeProof,
} from './webauthn/vote_proof.ts';
import type { Ballot } from './webauthn/vote_statement.ts';
import { assertMayWiden, assertPlaced, mayWiden, ONCE, type Widening } from './widen.ts';

export interface ApproveInput {
  actionHash: string | undefined;
  /** The view that the approver was shown. */
  viewHash: string | undefined;
  reason: string | undefined;
  /** The version the approver looked at (`If-Match`). */
  ifMatch: number | undefined;
  widening: Widening;
  /** What a passkey answered to the vote's signature options. */
  signature?: AssertionResponse | undefined;
}

/** An edited approval is approved by who saw the edit: the action's hash, the view's or the version says so. */
function assertSeen(approval: Approval, input: ApproveInput): void {
  const saidSo = [input.actionHash, input.viewHash, input.ifMatch].some((said) => said !== undefined);
  if (approval.edits.length === 0 || saidSo) return;
  throw new Fault(
    'precondition_required',
    'the approval was edited. Read it, then send its `action_hash` or `view_hash` in the body or its `ETag` in `If-Match`',
    { members: { approval_status: approval.status } },
  );
}

export function assertFillsPlace(
  requirements: Requirements,
  votes: readonly CountedVote[],
  vote: CountedVote,
): void {
  if (fillsOpenPlace(requirements, votes, vote)) return;
  const who = findOpenGroups(requirements, votes)
    .map((group) => `\`${group}\``)
    .join(' or ');
  throw new Fault('approver_not_eligible', `this vote fills no open place. Open to a member of ${who}`);
}

/** A vote with how far it widens its yes. */
type WideningVote = CountedVote & Widening;

/** What a completed approval grants beyond its one run, if every vote widens it. */
function toGrant(deps: Deps, approval: Approval, votes: readonly Widening[]): ApprovalChange[] {
  const terms = collectGrantTerms(votes);
  if (terms === undefined) return [];
  const query = toGrantQuery(approval, approval.context, approval.actionHash);
  const fingerprint = computeGrantFingerprint(query, terms.scope);
  return [{ kind: 'grant', grantId: deps.newUuid(), fingerprint, terms }];
}

/** What follows from a completed approval beyond its one run, as far as policy lets every voter widen it. */
function toFollowing(
  deps: Deps,
  policy: PolicySet,
  approval: Approval,
  exec: AgentExecRules,
  votes: readonly WideningVote[],
): ApprovalChange[] {
  const counted = votes.map((vote) => (mayWiden(policy, approval, vote) ? vote : ONCE));
  return [...toGrant(deps, approval, counted), ...toAllowlist(deps, approval, exec, counted)];
}

function judge(
  deps: Deps,
  policy: PolicySet,
  caller: Caller,
  locked: LockedApproval,
  input: ApproveInput,
  given: GivenProof,
): ApprovalChange[] {
  const { approval } = locked;
  assertState(approval, 'decide');
  assertVersion(approval, input.ifMatch);
  assertSeen(approval, input);
  assertActionHash(approval, input.actionHash);
  assertViewHash(approval, input.viewHash, caller);
  assertPlaced(approval, input.widening);
  assertLearnable(locked, input.widening.scope);
  const drift = examineDrift(deps, policy, locked, caller);
  if (drift.kind === 'voided') return drift.changes;
  // A vote for a view counts for no other: what the new rules show is kept, the vote is not.
  if (!isVoteForView(drift.approval, input.viewHash, caller)) return drift.changes;
  const { requirements, votes } = drift.approval;
  // Other rules may ask for fewer votes than were cast: then any further one completes the approval.
  const wereMet = areRequirementsMet(requirements, votes);
  if (!wereMet && votes.some((vote) => vote.approver === caller.principal)) return drift.changes;
  const ballot: Ballot = { decision: 'approve', ...input.widening };
  // Nor for other rules: a signature names those that it was given under.
  const isForOtherRules = findProofFault(given, drift.approval, caller, ballot)?.code === 'policy_changed';
  if (drift.kind === 'revalidated' && isForOtherRules) return drift.changes;
  assertSignedWhereAsked(given, drift.approval);
  assertPermitted(policy, drift.approval, 'approve', caller);
  assertMayWiden(policy, drift.approval, input.widening, caller);
  const vote = { approver: caller.principal, groups: caller.groups, ...input.widening };
  if (!wereMet) assertFillsPlace(requirements, votes, vote);
  const proof = takeProof(given, drift.approval, caller, ballot);
  const met = wereMet || areRequirementsMet(requirements, [...votes, vote]);
  return [
    ...drift.changes,
    {
      kind: 'vote',
      decision: 'approve',
      groups: caller.groups,
      ...input.widening,
      viewHash: input.viewHash ?? null,
      reason: maskWords(caller, input.reason),
      proof,
      status: met ? 'approved' : 'pending',
    },
    ...(met ? toFollowing(deps, policy, drift.approval, locked.exec, [...votes, vote]) : []),
  ];
}

/**
 * Casts a vote for exactly the bytes of the approval's present version. A principal's second vote on a version
 * changes nothing.
 * @throws Fault in the contract's order of checks; `policy_changed` when this call found the approval drifted.
 */
export async function approve(
  deps: Deps,
  caller: Caller,
  id: string,
  input: ApproveInput,
): Promise<Approval> {
  const approvalId = parseApprovalId(id);
  const given = await examineProof(deps, caller, approvalId, input.signature);
  let isCast = false;
  const approval = await transitionByRules(deps, caller, approvalId, (policy, locked, voter) => {
    const changes = judge(deps, policy, voter, assertLockedReadable(locked, caller), input, given);
    isCast = changes.some((change) => change.kind === 'vote');
    return changes;
  });
  if (isCast) measureVote(deps, caller, approval);
  if (approval.status === 'voided') throw policyChanged();
  assertViewHash(approval, input.viewHash, caller);
  const hasOwnVote = approval.votes.some((vote) => vote.approver === caller.principal);
  if (!hasOwnVote) takeProof(given, approval, caller, { decision: 'approve', ...input.widening });
  return approval;
}
