import { and, desc, eq, gt, inArray, isNull, lt, lte, type SQL, sql } from 'drizzle-orm';
import type { Approval, ApprovalStatus } from '../core/approval.ts';
import type { ApprovalFilter } from '../core/ports.ts';
import { selectApprovals, toApproval } from './approval_rows.ts';
import type { Executor } from './database.ts';
import { approvals } from './schema.ts';

/** Matches the status as it reads now: what has run out of time is `expired`, whatever the row still says. */
function hasStatus(status: ApprovalStatus): SQL | undefined {
  const clock = sql`clock_timestamp()`;
  if (status === 'expired') {
    return and(inArray(approvals.status, ['pending', 'approved']), lte(approvals.expiresAt, clock));
  }
  const stored = eq(approvals.status, status);
  const perishable = status === 'pending' || status === 'approved';
  return perishable ? and(stored, gt(approvals.expiresAt, clock)) : stored;
}

/** A page of a tenant's approvals, newest first; filtered in the statement, so that no page hides a match. */
export async function listApprovals(
  executor: Executor,
  tenantId: string,
  filter: ApprovalFilter,
): Promise<{ items: Approval[]; next: string | null }> {
  const readings = await selectApprovals(executor)
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        filter.status === null ? undefined : hasStatus(filter.status),
        filter.agent === null ? undefined : eq(approvals.agent, filter.agent),
        filter.tool === null ? undefined : eq(approvals.resolvedTool, filter.tool),
        filter.outcomeMissing ? and(eq(approvals.status, 'consumed'), isNull(approvals.outcome)) : undefined,
        filter.before === null ? undefined : lt(approvals.approvalId, filter.before),
      ),
    )
    .orderBy(desc(approvals.approvalId))
    .limit(filter.limit + 1);
  const items = readings.slice(0, filter.limit).map(toApproval);
  const isLastPage = readings.length <= filter.limit;
  return { items, next: isLastPage ? null : (items.at(-1)?.approvalId ?? null) };
}
