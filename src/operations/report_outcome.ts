import { type Approval, type ApprovalOutcome, assertState } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';

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
    return [{ kind: 'outcome', outcome }];
  });
}
