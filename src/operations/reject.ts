import { type Approval, assertState, assertVersion } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import type { AssertionResponse } from '../core/webauthn_ports.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';
import { measureVote } from './measure_vote.ts';
import { assertPermitted } from './redecide.ts';
import { assertViewHash } from './review.ts';
import { transitionByRules } from './transition.ts';
import { examineProof, takeProof } from './webauthn/vote_proof.ts';
import { ONCE } from './widen.ts';

export interface RejectInput {
  reason: string | undefined;
  /** The view that the approver was shown. */
  viewHash: string | undefined;
  ifMatch: number | undefined;
  /** What a passkey answered to the vote's signature options. A no is never refused for want of one. */
  signature?: AssertionResponse | undefined;
}

/**
 * Ends a pending approval with a no; one rejection is enough.
 * @throws Fault in the contract's order of checks.
 */
export async function reject(deps: Deps, caller: Caller, id: string, input: RejectInput): Promise<Approval> {
  const approvalId = parseApprovalId(id);
  const given = await examineProof(deps, caller, approvalId, input.signature);
  const rejected = await transitionByRules(deps, caller, approvalId, (policy, locked, voter) => {
    const approval = assertReadable(locked?.approval, caller);
    assertState(approval, 'decide');
    assertVersion(approval, input.ifMatch);
    assertViewHash(approval, input.viewHash, caller);
    assertPermitted(policy, approval, 'reject', voter);
    const proof = takeProof(given, approval, caller, { decision: 'reject', ...ONCE });
    return [
      {
        kind: 'vote',
        decision: 'reject',
        groups: voter.groups,
        ...ONCE,
        viewHash: input.viewHash ?? null,
        reason: maskWords(caller, input.reason),
        proof,
        status: 'rejected',
      },
    ];
  });
  measureVote(deps, caller, rejected);
  return rejected;
}
