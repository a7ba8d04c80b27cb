import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import type { ReviewWarningCode } from '../core/review.ts';
import { readsAll } from './access.ts';
import { type Decidable, judgeApprove, loadRules, type Verdict } from './decidability.ts';
import type { Deps } from './deps.ts';
import { type Gist, gistOf } from './gist.ts';
import { listApprovals } from './list_approvals.ts';
import { maskerOf } from './masking.ts';
import { reviewOf } from './review.ts';
import { createSharedReads } from './shared_reads.ts';

/** An approval in the queue: what it takes to find it and to judge who may vote, not what it takes to decide. */
export interface QueueItem extends Decidable {
  version: number;
  actionHash: string;
  reason: string;
  createdAt: Date;
  expiresAt: Date;
  gist: Gist;
  /** Codes of its review's warnings, each once. */
  warnings: ReviewWarningCode[];
}

/** Everything that waits for a decision, what expires first at the top. */
export interface Queue {
  /** The database's clock when the last of it was read; this process's when nothing waits. */
  readAt: Date;
  items: QueueItem[];
  /** When people last decided something, where nothing waits; null where nothing is known of it. */
  lastDecidedAt: Date | null;
}

const PAGE = 200;
function toItem(approval: Approval, caller: Caller): QueueItem {
  const review = reviewOf(approval, maskerOf(caller));
  const { approvalId, agent, owner, edits, resolved, context, requirements, selfApproval, votes } = approval;
  const { status, version, actionHash, reason, createdAt, expiresAt } = approval;
  return {
    ...{ approvalId, agent, owner, edits, resolved, context, requirements, selfApproval, votes },
    ...{ status, version, actionHash, reason, createdAt, expiresAt },
    gist: gistOf(review),
    warnings: [...new Set(review.warnings.map(({ code }) => code))],
  };
}

/** Every page of the list, however many there are; of each approval no more is kept than a row needs. */
async function readAll(deps: Deps, caller: Caller): Promise<Queue> {
  const items: QueueItem[] = [];
  let readAt = deps.now();
  let before: string | null = null;
  do {
    const filter = { status: 'pending' as const, agent: null, tool: null, outcomeMissing: false };
    const page: Awaited<ReturnType<typeof listApprovals>> = await listApprovals(deps, caller, {
      ...filter,
      limit: PAGE,
      before,
    });
    items.push(...page.items.map((approval) => toItem(approval, caller)));
    readAt = page.items.at(-1)?.readAt ?? readAt;
    before = page.next;
  } while (before !== null);
  items.sort(
    (a, b) => a.expiresAt.getTime() - b.expiresAt.getTime() || (a.approvalId < b.approvalId ? -1 : 1),
  );
  const lastDecidedAt = items.length === 0 ? await deps.approvals.findLastDecidedAt(caller.tenantId) : null;
  return { readAt, items, lastDecidedAt };
}

const sharedReads = new WeakMap<Deps, ReturnType<typeof createSharedReads<Queue>>>();

/**
 * All that waits for a decision and that the caller may read. Many consoles look again at one moment, whenever
 * something has changed: those of a tenant share one reading.
 */
export function listQueue(deps: Deps, caller: Caller): Promise<Queue> {
  const share = sharedReads.get(deps) ?? createSharedReads<Queue>();
  sharedReads.set(deps, share);
  const whose = readsAll(caller) ? null : caller.principal;
  return share(JSON.stringify([caller.tenantId, whose]), () => readAll(deps, caller));
}

/** An item with whether the caller's vote would count. */
export interface JudgedItem {
  item: QueueItem;
  verdict: Verdict;
}

/** Says of each item whether the caller's vote would count towards it. */
export async function judgeItems(
  deps: Deps,
  caller: Caller,
  items: readonly QueueItem[],
): Promise<JudgedItem[]> {
  const policy = await loadRules(deps, caller);
  return items.map((item) => ({ item, verdict: judgeApprove(policy, caller, item) }));
}
