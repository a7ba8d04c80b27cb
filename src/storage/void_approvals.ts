import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { VoidReason } from '../core/approval.ts';
import { grants } from './agent_schema.ts';
import type { Executor } from './database.ts';
import { revokeGrants, revokeGrantsOf } from './grants.ts';
import { approvals, votes } from './schema.ts';

// What becomes of approvals whose ground is gone: the votes they rest on, or the agent that asked. Each function is
// part of a transaction that holds the keys in question, so that no vote and no ask of them joins meanwhile.

const clock = sql`clock_timestamp()`;

const OPEN = ['pending', 'approved'] as const;

/** Whose approvals lose their ground. */
export interface LostGround {
  /** Keys whose votes no longer count. */
  votedWith: readonly string[];
  /** The agent whose open approvals are void and whose grants end, and the principal at whose word, if known. */
  askedBy: { agent: string; voidReason: VoidReason; by: string | null } | null;
}

function hasCastVote(tenantId: string, keyIds: readonly string[]) {
  return and(eq(votes.tenantId, tenantId), inArray(votes.keyId, [...keyIds]), isNull(votes.droppedAt));
}

async function findVotedOn(tx: Executor, tenantId: string, keyIds: readonly string[]): Promise<string[]> {
  if (keyIds.length === 0) return [];
  const rows = await tx
    .selectDistinct({ approvalId: votes.approvalId })
    .from(votes)
    .where(hasCastVote(tenantId, keyIds));
  return rows.map((row) => row.approvalId);
}

async function findOpen(tx: Executor, tenantId: string, agent: string): Promise<string[]> {
  const rows = await tx
    .select({ approvalId: approvals.approvalId })
    .from(approvals)
    .where(
      and(eq(approvals.tenantId, tenantId), eq(approvals.agent, agent), inArray(approvals.status, OPEN)),
    );
  return rows.map((row) => row.approvalId);
}

/** Takes rows in id order, as every statement that takes several does. */
async function lockApprovals(tx: Executor, tenantId: string, approvalIds: string[]): Promise<void> {
  if (approvalIds.length === 0) return;
  await tx
    .select({ approvalId: approvals.approvalId })
    .from(approvals)
    .where(and(eq(approvals.tenantId, tenantId), inArray(approvals.approvalId, approvalIds)))
    .orderBy(approvals.approvalId)
    .for('update');
}

async function voidApprovals(
  tx: Executor,
  tenantId: string,
  approvalIds: string[],
  voidReason: VoidReason,
): Promise<string[]> {
  if (approvalIds.length === 0) return [];
  const voided = await tx
    .update(approvals)
    .set({ status: 'voided', voidedAt: clock as unknown as Date, voidReason })
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        inArray(approvals.approvalId, approvalIds),
        inArray(approvals.status, OPEN),
        gt(approvals.expiresAt, clock),
      ),
    )
    .returning({ approvalId: approvals.approvalId });
  return voided.map((row) => row.approvalId);
}

/** Approvals that were approved with a vote of these keys: every vote they took was needed. */
async function findApprovedWith(
  tx: Executor,
  tenantId: string,
  keyIds: readonly string[],
): Promise<string[]> {
  const rows = await tx
    .selectDistinct({ approvalId: approvals.approvalId })
    .from(approvals)
    .innerJoin(
      votes,
      and(
        eq(votes.tenantId, approvals.tenantId),
        eq(votes.approvalId, approvals.approvalId),
        hasCastVote(tenantId, keyIds),
      ),
    )
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        eq(approvals.status, 'approved'),
        sql`${votes.version} >= ${approvals.votesFromVersion}`,
      ),
    );
  return rows.map((row) => row.approvalId);
}

/**
 * Drops the votes of keys: a pending approval goes on without them under a new version, an approved one that is not
 * consumed is voided.
 */
async function dropVotes(
  tx: Executor,
  tenantId: string,
  keyIds: readonly string[],
  approvalIds: string[],
): Promise<string[]> {
  if (approvalIds.length === 0) return [];
  const pending = await tx
    .update(approvals)
    .set({ version: sql`${approvals.version} + 1` })
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        eq(approvals.status, 'pending'),
        sql`exists (select from votes v where v.tenant_id = ${approvals.tenantId}
          and v.approval_id = ${approvals.approvalId} and v.key_id = any(${sql.param([...keyIds])}::uuid[])
          and v.dropped_at is null and v.version >= ${approvals.votesFromVersion})`,
        inArray(approvals.approvalId, approvalIds),
      ),
    )
    .returning({ approvalId: approvals.approvalId });
  const approved = await findApprovedWith(tx, tenantId, keyIds);
  const voided = await voidApprovals(tx, tenantId, approved, 'key_revoked');
  await tx
    .update(votes)
    .set({ droppedAt: clock as unknown as Date })
    .where(hasCastVote(tenantId, keyIds));
  return [...pending.map((row) => row.approvalId), ...voided];
}

/** Open approvals of commands, with whoever asked: a node's are those that were asked in its workspace. */
function findOpenCommands(tx: Executor, tenantId: string, workspace: string | null) {
  return tx
    .select({ approvalId: approvals.approvalId, agent: approvals.agent })
    .from(approvals)
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        inArray(approvals.status, OPEN),
        sql`jsonb_typeof(${approvals.reviewFacts} -> 'command') = 'object'`,
        workspace === null ? undefined : sql`${approvals.context} ->> 'workspace' = ${workspace}`,
      ),
    );
}

/** Voids the open commands of agents that may run none from now on; the ids of the approvals that changed. */
export async function voidCommands(
  tx: Executor,
  tenantId: string,
  workspace: string | null,
  isDenied: (agent: string) => boolean,
): Promise<string[]> {
  const open = await findOpenCommands(tx, tenantId, workspace);
  const denied = open.filter(({ agent }) => isDenied(agent)).map(({ approvalId }) => approvalId);
  await lockApprovals(tx, tenantId, denied);
  return voidApprovals(tx, tenantId, denied, 'policy');
}

/** Drops votes, voids approvals and ends grants that have lost their ground; the ids of the approvals that changed. */
export async function settleApprovals(tx: Executor, tenantId: string, lost: LostGround): Promise<string[]> {
  const { votedWith, askedBy } = lost;
  const votedOn = await findVotedOn(tx, tenantId, votedWith);
  const open = askedBy === null ? [] : await findOpen(tx, tenantId, askedBy.agent);
  await lockApprovals(tx, tenantId, [...new Set([...votedOn, ...open])]);
  const dropped = await dropVotes(tx, tenantId, votedWith, votedOn);
  // A grant rests on the votes of its approval, whatever became of that.
  await revokeGrantsOf(tx, tenantId, votedOn, askedBy?.by ?? null);
  if (askedBy === null) return dropped;
  const voided = await voidApprovals(tx, tenantId, open, askedBy.voidReason);
  // An approval that makes a grant is held, or done, by now.
  await revokeGrants(tx, tenantId, eq(grants.agent, askedBy.agent), askedBy.by);
  return [...new Set([...dropped, ...voided])];
}
