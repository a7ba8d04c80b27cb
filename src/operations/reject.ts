import { type Approval, assertState, assertVersion } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';
import { assertPermitted } from './redecide.ts';
import { assertViewHash } from './review.ts';
import { transitionByRules } from './transition.ts';

export interface RejectInput {
  reason: string | undefined;
  /** The view that the approver was shown. */
  viewHash: string | undefined;
  ifMatch: number | undefined;
}

/**
 * Ends a pending approval with a no; one rejection is enough.
 * @throws Fault in the contract's order of checks.
 */
export function reject(deps: Deps, caller: Caller, id: string, input: RejectInput): Promise<Approval> {
  return transitionByRules(deps, caller, parseApprovalId(id), (policy, locked, voter) => {
    const approval = assertReadable(locked?.approval, caller);
    assertState(approval, 'decide');
    assertVersion(approval, input.ifMatch);
    assertViewHash(approval, input.viewHash, caller);
    assertPermitted(policy, approval, 'reject', voter);
    return [
      {
        kind: 'vote',
        decision: 'reject',
        groups: voter.groups,
        scope: 'once',
        viewHash: input.viewHash ?? null,
        windowSeconds: null,
        maxUses: null,
        reason: maskWords(caller, input.reason),
        status: 'rejected',
      },
    ];
  });
}
