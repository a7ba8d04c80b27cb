import { hasPrivateKey } from '../analysis/secrets/scrub.ts';
import { type Approval, type ApprovalOutcome, assertState } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';

/** What stands in the place of a detail that has a private key in it: what surrounds one may be part of it. */
export const BLOCKED_DETAIL = 'the detail was withheld: a private key was in it';

function hideSecrets(caller: Caller, detail: string | null): string | null {
  return detail !== null && hasPrivateKey(detail) ? BLOCKED_DETAIL : maskWords(caller, detail);
}

/**
 * Records what became of a consumed approval, once; from then on the consume is no longer replayed.
 * @throws Fault in the contract's order of checks; `outcome_already_reported`.
 */
export function reportOutcome(
  deps: Deps,
  caller: Caller,
  id: string,
  outcome: Omit<ApprovalOutcome, 'reported_at'>,
): Promise<Approval> {
  return deps.approvals.transition(caller, parseApprovalId(id), (locked) => {
    const approval = assertReadable(locked?.approval, caller);
    assertState(approval, 'outcome');
    if (approval.outcome !== null) {
      throw new Fault(
        'outcome_already_reported',
        'the outcome was reported before, and is reported once. Read the approval to see it',
        { members: { approval_status: approval.status } },
      );
    }
    if (approval.agent !== caller.principal) {
      throw new Fault(
        'forbidden',
        'only the agent that consumed reports the outcome. Use a key of that agent',
      );
    }
    return [
      {
        kind: 'outcome',
        outcome: {
          ...outcome,
          enforcement_id: maskWords(caller, outcome.enforcement_id),
          detail: hideSecrets(caller, outcome.detail),
        },
      },
    ];
  });
}
