import { type Approval, assertState, assertVersion } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { assertPermitted } from './redecide.ts';
import { transitionByRules } from './transition.ts';

export interface RejectInput {
  reason: string | undefined;
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
    assertPermitted(policy, approval, 'reject', voter);
    return [
      {
        kind: 'vote',
        decision: 'reject',
        groups: voter.groups,
        scope: 'once',
        windowSeconds: null,
        maxUses: null,
        reason: input.reason ?? null,
        status: 'rejected',
      },
    ];
  });
}
