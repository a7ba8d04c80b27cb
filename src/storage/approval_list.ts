import { and, desc, eq, gt, inArray, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Approval, ApprovalStatus } from '../core/approval.ts';
import type { ApprovalFilter } from '../core/approval_ports.ts';
import { selectApprovals, toApproval } from './approval_rows.ts';
import type { Executor } from './database.ts';
import { approvals } from './schema.ts';

const clock = sql`clock_timestamp()`;
const hasTimeLeft = gt(approvals.expiresAt, clock);
const isAskerGone = lte(approvals.askerLeaseUntil, clock);
const isAskerThere = or(isNull(approvals.askerLeaseUntil), gt(approvals.askerLeaseUntil, clock));
const isWaiting = and(eq(approvals.status, 'pending'), hasTimeLeft, isAskerThere);

/** Matches the status as it reads now, whatever the row still says; see `effectiveStatus`. */
function hasStatus(status: ApprovalStatus): SQL | undefined {
  switch (status) {
    case 'pending':
      return isWaiting;
    case 'approved':
      return and(eq(approvals.status, status), hasTimeLeft);
    case 'expired':
      return and(inArray(approvals.status, ['pending', 'approved']), lte(approvals.expiresAt, clock));
    case 'cancelled':
      return or(eq(approvals.status, status), and(eq(approvals.status, 'pending'), hasTimeLeft, isAskerGone));
    default:
      return eq(approvals.status, status);
  }
}

/** Of a tool that runs commands, by what the registry said when it was asked. */
const isCommand = or(
  sql`jsonb_typeof(${approvals.reviewFacts} -> 'command') = 'object'`,
  // Rows older than reviews do not say.
  and(
    isNull(approvals.reviewFacts),
    eq(approvals.resolvedTool, 'shell'),
    eq(approvals.resolvedAction, 'exec'),
  ),
);

/** Every command of a tenant that waits for a person, oldest first. */
export async function listPendingCommands(executor: Executor, tenantId: string): Promise<Approval[]> {
  const readings = await selectApprovals(executor)
    .where(and(eq(approvals.tenantId, tenantId), isWaiting, isCommand))
    .orderBy(approvals.approvalId);
  return readings.map(toApproval);
}

/** Lists are by when they were asked for, and nothing lives longer than a day: so many of the newest are looked through. */
const LATELY_MAX = 50;
const LATELY_DECIDED = ['consumed', 'approved', 'rejected'] as const;

/** When people last decided an approval of a tenant; see `ApprovalStore.findLastDecidedAt`. */
export async function findLastDecidedAt(executor: Executor, tenantId: string): Promise<Date | null> {
  const found = await Promise.all(
    LATELY_DECIDED.map((status) =>
      executor
        .select({ decidedAt: approvals.decidedAt })
        .from(approvals)
        .where(and(eq(approvals.tenantId, tenantId), hasStatus(status)))
        .orderBy(desc(approvals.approvalId))
        .limit(LATELY_MAX),
    ),
  );
  const times = found.flat().flatMap(({ decidedAt }) => (decidedAt === null ? [] : decidedAt.getTime()));
  return times.length === 0 ? null : new Date(Math.max(...times));
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
        filter.sessionId === undefined
          ? undefined
          : sql`${approvals.context} ->> 'session_id' = ${filter.sessionId}`,
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
