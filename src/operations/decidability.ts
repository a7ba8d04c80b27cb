import { type Approval, type ApprovalStatus, STATE_TABLE } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { Fault, type FaultCode } from '../core/fault.ts';
import type { PolicySet, VoteScope } from '../core/policy.ts';
import { areRequirementsMet } from '../core/requirements.ts';
import { assertFillsPlace } from './approve.ts';
import type { Deps } from './deps.ts';
import { offeredVoteScopes } from './exec_approvals/learn.ts';
import { assertPermitted, type JudgedApproval } from './redecide.ts';

/** Whether somebody could do something now, and if not why, in words for them. */
export type Verdict = { kind: 'can' } | { kind: 'cannot'; code: FaultCode; reason: string };

/** What a caller could do to an approval, as it stood when it was read. */
export interface Decidability {
  approve: Verdict;
  reject: Verdict;
  edit: Verdict;
  cancel: Verdict;
  /** The scopes that the approval has, and whether the caller may pick each. */
  scopes: { scope: VoteScope; verdict: Verdict }[];
  /** Whether other rules are in force than those it was decided by: a vote decides it anew first. */
  isDrifted: boolean;
}

/** An approval as far as it says who may decide it. */
export type Decidable = JudgedApproval & Pick<Approval, 'status'>;

const CAN: Verdict = { kind: 'can' };

const STATES: Readonly<Record<Exclude<ApprovalStatus, 'pending'>, string>> = {
  approved: 'it is approved already',
  rejected: 'it is rejected already',
  expired: 'it has expired',
  consumed: 'it was approved and has been used',
  cancelled: 'it was taken back',
  voided: 'it was voided',
};

/** What `assert` throws as a verdict; whatever is no refusal is thrown on. */
function verdictOf(assert: () => void): Verdict {
  try {
    assert();
    return CAN;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { kind: 'cannot', code: error.code, reason: error.detail };
  }
}

function judgeState(approval: Decidable, call: 'decide' | 'cancel'): Verdict {
  const verdict = STATE_TABLE[approval.status][call];
  if (verdict === 'ok' || approval.status === 'pending') return CAN;
  return { kind: 'cannot', code: verdict, reason: STATES[approval.status] };
}

function judgeRole(caller: Caller): Verdict {
  if (caller.roles.includes('approver')) return CAN;
  return {
    kind: 'cannot',
    code: 'forbidden',
    reason: 'you are signed in without the role `approver`, and may look but not decide',
  };
}

/** The first thing that stands in the way. */
function firstOf(...judges: (() => Verdict)[]): Verdict {
  for (const judge of judges) {
    const verdict = judge();
    if (verdict.kind === 'cannot') return verdict;
  }
  return CAN;
}

function judgeVote(policy: PolicySet, caller: Caller, approval: Decidable): Verdict {
  const { requirements, votes } = approval;
  const isMet = areRequirementsMet(requirements, votes);
  if (!isMet && votes.some(({ approver }) => approver === caller.principal)) {
    return {
      kind: 'cannot',
      code: 'approval_already_decided',
      reason: 'your vote is on it already; it waits for others',
    };
  }
  return verdictOf(() => {
    assertPermitted(policy, approval, 'approve', caller);
    const vote = { approver: caller.principal, groups: caller.groups };
    if (!isMet) assertFillsPlace(requirements, votes, vote);
  });
}

/** Whether a caller's vote would count towards an approval. It is what `approve` would say, were nothing to change. */
export function judgeApprove(policy: PolicySet, caller: Caller, approval: Decidable): Verdict {
  return firstOf(
    () => judgeState(approval, 'decide'),
    () => judgeRole(caller),
    () => judgeVote(policy, caller, approval),
  );
}

/** The rules that decide for a caller now. */
export function loadRules(deps: Deps, caller: Caller): Promise<PolicySet> {
  return deps.policy.load(caller.tenantId, caller.tenant.activeRevision);
}

/**
 * What a caller could do to an approval as it was read. Nothing is written, and nothing is promised: the operations
 * judge again, under the row's lock.
 */
export async function getDecidability(deps: Deps, caller: Caller, approval: Approval): Promise<Decidability> {
  const policy = await loadRules(deps, caller);
  const permit = (action: 'reject' | 'edit' | 'widen') => (): Verdict =>
    verdictOf(() => assertPermitted(policy, approval, action, caller));
  const may = (action: 'reject' | 'edit') =>
    firstOf(
      () => judgeState(approval, 'decide'),
      () => judgeRole(caller),
      permit(action),
    );
  const widen = permit('widen')();
  return {
    approve: judgeApprove(policy, caller, approval),
    reject: may('reject'),
    edit: may('edit'),
    cancel: firstOf(
      () => judgeState(approval, 'cancel'),
      () => verdictOf(() => assertPermitted(policy, approval, 'cancel', caller)),
    ),
    scopes: offeredVoteScopes(approval).map((scope) => ({
      scope,
      verdict: scope === 'once' ? CAN : widen,
    })),
    isDrifted: approval.policyRevision !== policy.revision,
  };
}
