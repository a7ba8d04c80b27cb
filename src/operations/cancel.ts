import { type Approval, assertState, assertVersion } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { assertReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';
import { assertPermitted } from './redecide.ts';
import { transitionByRules } from './transition.ts';

export interface CancelInput {
  reason: string | undefined;
  ifMatch: number | undefined;
}

/**
 * Takes an approval back before it is used, as far as policy lets the caller: by the base policies the asking
 * agent, an operator, and an approver whose vote is on it.
 * @throws Fault in the contract's order of checks.
 */
export function cancel(deps: Deps, caller: Caller, id: string, input: CancelInput): Promise<Approval> {
  return transitionByRules(deps, caller, parseApprovalId(id), (policy, locked, actor) => {
    const approval = assertReadable(locked?.approval, caller);
    assertState(approval, 'cancel');
    assertVersion(approval, input.ifMatch);
    assertPermitted(policy, approval, 'cancel', actor);
    return [{ kind: 'cancel', reason: maskWords(caller, input.reason) }];
  });
}
