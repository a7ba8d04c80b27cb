import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type Approval, type ApprovalOutcome, effectiveStatus, type Vote } from '../core/approval.ts';
import type { ApprovalStore } from '../core/approval_ports.ts';
import { createSharedRead } from './batcher.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { approvals } from './schema.ts';

type ApprovalRow = typeof approvals.$inferSelect;

interface VoteJson extends Omit<Vote, 'at' | 'shownAt'> {
  at: string;
  shownAt: string | null;
}

interface RecentJson {
  approval_id: string;
  consumed_at: string;
  outcome: ApprovalOutcome | null;
}

/** Earlier consumes that an approver is shown beside an approval, at the most. */
const RECENT_MAX = 20;

const now = sql<string>`clock_timestamp()`;

// Columns of the row that is read are written out with their table: in a selection drizzle writes a column without
// it, and a bare name would be the inner table's own, true of every row of every tenant.

/** The votes on an approval that count now: of a revoked key's nothing is left. */
export const countedVotes = sql<VoteJson[]>`(
  select coalesce(json_agg(json_build_object('approver', v.approver, 'decision', v.decision, 'scope', v.scope,
    'windowSeconds', v.window_seconds, 'maxUses', v.max_uses, 'reason', v.reason, 'at', v.at, 'shownAt', v.shown_at, 'groups', v.groups,
    'signature', v.signature,
    'presentGroups', (select p.groups from principals p
      where p.tenant_id = v.tenant_id and p.principal = v.approver and p.disabled_at is null)) order by v.at, v.approver), '[]')
  from votes v
  where v.tenant_id = approvals.tenant_id and v.approval_id = approvals.approval_id
    and v.version >= approvals.votes_from_version and v.dropped_at is null)`;

const recentConsumes = sql<RecentJson[]>`(
  select coalesce(json_agg(r order by r.consumed_at desc), '[]') from (
    select c.approval_id, c.consumed_at, c.outcome from approvals c
    where c.tenant_id = approvals.tenant_id and c.agent = approvals.agent
      and c.action_hash = approvals.action_hash and c.status = 'consumed'
      and c.approval_id <> approvals.approval_id
      and c.consumed_at > clock_timestamp() - interval '24 hours'
    order by c.consumed_at desc limit ${sql.raw(String(RECENT_MAX))}) r)`;

interface ApprovalReading {
  row: ApprovalRow;
  votes: VoteJson[];
  recent: RecentJson[];
  now: string;
}

/** Reads approvals with their counted votes and the recent consumes of the same action, in one statement. */
export function selectApprovals(executor: Executor) {
  return executor
    .select({ row: approvals, votes: countedVotes, recent: recentConsumes, now })
    .from(approvals)
    .$dynamic();
}

/** The condition that names one approval of one tenant. */
export function isApproval(tenantId: string, approvalId: string): SQL {
  return and(eq(approvals.tenantId, tenantId), eq(approvals.approvalId, approvalId)) as SQL;
}

/** A vote as the domain sees it. */
export function toVote(vote: VoteJson): Vote {
  return { ...vote, at: new Date(vote.at), shownAt: vote.shownAt === null ? null : new Date(vote.shownAt) };
}

/** A row as the domain sees it, with its status at the moment it was read. */
export function toApproval({ row, votes, recent, now }: ApprovalReading): Approval {
  const isAskerGone = row.askerLeaseUntil !== null && row.askerLeaseUntil <= new Date(now);
  return {
    readAt: new Date(now),
    tenantId: row.tenantId,
    approvalId: row.approvalId,
    version: row.version,
    status: effectiveStatus(row.status, row.expiresAt, new Date(now), isAskerGone),
    agent: row.agent,
    owner: row.owner,
    edits: row.edits,
    context: row.context,
    originalAction: row.originalAction,
    originalActionHash: row.originalActionHash,
    canonicalAction: row.canonicalAction,
    actionHash: row.actionHash,
    resolved: { tool: row.resolvedTool, action: row.resolvedAction },
    toolFactsHash: row.toolFactsHash,
    secretParameters: row.secretParameters,
    reviewFacts: row.reviewFacts,
    review: row.review,
    reason: row.reason,
    determiningPolicies: row.determiningPolicies,
    policyRevision: row.policyRevision,
    requirements: {
      votes: row.requiredVotes,
      groups: row.requiredGroups,
      signature: row.requiredSignature,
    },
    selfApproval: row.selfApproval,
    maxScope: row.maxScope,
    votes: votes.map(toVote),
    recent: recent.map((item) => ({
      approvalId: item.approval_id,
      consumedAt: new Date(item.consumed_at),
      outcome: item.outcome,
    })),
    decidedBy: row.decidedBy,
    decisionReason: row.decisionReason,
    voidReason: row.voidReason,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    decidedAt: row.decidedAt,
    consumedAt: row.consumedAt,
    consumerTokenHash: row.consumerTokenHash,
    outcome: row.outcome,
    isAskerGone,
  };
}

/** One approval as it stands now, or undefined. */
export async function findApproval(
  executor: Executor,
  tenantId: string,
  approvalId: string,
): Promise<Approval | undefined> {
  const [reading] = await selectApprovals(executor).where(isApproval(tenantId, approvalId));
  return reading && toApproval(reading);
}

/** The same outside of a transaction, for any number of callers at once. */
export function createApprovalFind({ db }: Database): ApprovalStore['find'] {
  const toKey = (tenantId: string, approvalId: string): string => `${tenantId}/${approvalId}`;
  const find = createSharedRead(async (subjects) => {
    const pairs = subjects.map((subject) => subject.split('/') as [string, string]);
    const tenantIds = sql.param(pairs.map(([tenantId]) => tenantId));
    const approvalIds = sql.param(pairs.map(([, approvalId]) => approvalId));
    const named = sql`(select * from unnest(${tenantIds}::text[], ${approvalIds}::uuid[]))`;
    const readings = await guarded(() =>
      selectApprovals(db).where(sql`(${approvals.tenantId}, ${approvals.approvalId}) in ${named}`),
    );
    return new Map(
      readings.map((reading) => [toKey(reading.row.tenantId, reading.row.approvalId), toApproval(reading)]),
    );
  });
  return (tenantId, approvalId) => find(toKey(tenantId, approvalId));
}
