import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { isWithinScope } from '../core/grant.ts';
import type { PolicySet, VoteScope } from '../core/policy.ts';
import type { CountedVote } from '../core/requirements.ts';
import { judgeApprover } from './redecide.ts';

/** How far a vote wants its yes to hold; a window says how long and how often. */
export interface Widening {
  scope: VoteScope;
  windowSeconds: number | null;
  maxUses: number | null;
}

/** A yes for one run. */
export const ONCE: Widening = { scope: 'once', windowSeconds: null, maxUses: null };

/** Whether policy lets a voter widen the yes they gave; the rules may be others than when they gave it. */
export function mayWiden(policy: PolicySet, approval: Approval, vote: CountedVote & Widening): boolean {
  if (vote.scope === 'once' || !isWithinScope(vote.scope, approval.maxScope)) return vote.scope === 'once';
  const voter = { principal: vote.approver, groups: vote.groups, roles: ['approver'] as const };
  return judgeApprover(policy, approval, 'widen', voter).kind === 'permitted';
}

/** @throws Fault `invalid_request` for a yes that holds for a run or session, when the call named none. */
export function assertPlaced(approval: Approval, { scope }: Widening): void {
  const member = scope === 'session' ? 'session_id' : 'run_id';
  if ((scope !== 'session' && scope !== 'run') || approval.context[member] !== null) return;
  throw new Fault(
    'invalid_request',
    `a \`${scope}\` scope needs an approval whose call named a \`${member}\`. Send another scope`,
    { issues: [{ pointer: '/scope', reason: `the call named no \`${member}\`` }] },
  );
}

/** @throws Fault `scope_not_allowed` when policy caps the scope, or does not let this approver widen it. */
export function assertMayWiden(
  policy: PolicySet,
  approval: Approval,
  { scope }: Widening,
  caller: Caller,
): void {
  if (scope === 'once') return;
  if (!isWithinScope(scope, approval.maxScope)) {
    throw new Fault(
      'scope_not_allowed',
      `policy lets this approval hold for \`${approval.maxScope}\` at the most. Send that scope, or none`,
    );
  }
  const judged = judgeApprover(policy, approval, 'widen', caller);
  if (judged.kind === 'permitted') return;
  const code = judged.code === 'approver_not_eligible' ? 'scope_not_allowed' : judged.code;
  throw new Fault(code, judged.reason);
}
