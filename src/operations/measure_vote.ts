import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

const MS_PER_SECOND = 1000;

function secondsBetween(from: Date, to: Date): number {
  return Math.max(to.getTime() - from.getTime(), 0) / MS_PER_SECOND;
}

/** Counts the vote that the caller has just cast, and the decision where it made one. */
export function measureVote(deps: Deps, caller: Caller, approval: Approval): void {
  const vote = approval.votes.findLast(({ approver }) => approver === caller.principal);
  if (vote === undefined) return;
  const { decision, shownAt, at } = vote;
  deps.metrics.countVote(decision, shownAt === null ? null : secondsBetween(shownAt, at));
  const { status, decidedAt, createdAt } = approval;
  if (decidedAt !== null && (status === 'approved' || status === 'rejected')) {
    deps.metrics.countDecided(status, secondsBetween(createdAt, decidedAt));
  }
}
