import { and, arrayContains, eq, gt, inArray, or, sql } from 'drizzle-orm';
import { notFound } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Database, Executor } from './database.ts';
import { approvals, keys, votes } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { assertKeyStands, keyStands } from './standing.ts';
import { inTransaction } from './transaction.ts';

const clock = sql`clock_timestamp()`;

/** The reason under which a key's votes go on counting: the same person goes on with another key. */
const ROTATED = 'rotated';

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

async function voidApprovals(tx: Executor, tenantId: string, approvalIds: string[]): Promise<string[]> {
  if (approvalIds.length === 0) return [];
  const voided = await tx
    .update(approvals)
    .set({ status: 'voided', voidedAt: clock as unknown as Date, voidReason: 'key_revoked' })
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        inArray(approvals.approvalId, approvalIds),
        inArray(approvals.status, ['pending', 'approved']),
        gt(approvals.expiresAt, clock),
      ),
    )
    .returning({ approvalId: approvals.approvalId });
  return voided.map((row) => row.approvalId);
}

/**
 * Drops the key's votes: a pending approval goes on without them under a new version, an approved one that is
 * not consumed is voided, since every vote it took was needed.
 */
async function dropVotes(tx: Executor, tenantId: string, keyId: string): Promise<string[]> {
  const cast = and(eq(votes.tenantId, tenantId), eq(votes.keyId, keyId), sql`${votes.droppedAt} is null`);
  const touched = await tx.selectDistinct({ approvalId: votes.approvalId }).from(votes).where(cast);
  const approvalIds = touched.map((row) => row.approvalId);
  if (approvalIds.length === 0) return [];
  await lockApprovals(tx, tenantId, approvalIds);
  const pending = await tx
    .update(approvals)
    .set({ version: sql`${approvals.version} + 1` })
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        eq(approvals.status, 'pending'),
        sql`exists (select from votes v where v.tenant_id = ${approvals.tenantId}
          and v.approval_id = ${approvals.approvalId} and v.key_id = ${keyId} and v.dropped_at is null
          and v.version >= ${approvals.votesFromVersion})`,
        inArray(approvals.approvalId, approvalIds),
      ),
    )
    .returning({ approvalId: approvals.approvalId });
  const resting = await tx
    .select({ approvalId: approvals.approvalId })
    .from(approvals)
    .innerJoin(
      votes,
      and(eq(votes.tenantId, approvals.tenantId), eq(votes.approvalId, approvals.approvalId), cast),
    )
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        eq(approvals.status, 'approved'),
        sql`${votes.version} >= ${approvals.votesFromVersion}`,
      ),
    );
  const voided = await voidApprovals(
    tx,
    tenantId,
    resting.map((row) => row.approvalId),
  );
  await tx
    .update(votes)
    .set({ droppedAt: clock as unknown as Date })
    .where(cast);
  return [...pending.map((row) => row.approvalId), ...voided];
}

/** Voids what an agent without any standing key still has open. */
async function voidAsksOfKeyless(tx: Executor, tenantId: string, agent: string): Promise<string[]> {
  const [standing] = await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(
      and(
        eq(keys.tenantId, tenantId),
        eq(keys.principal, agent),
        arrayContains(keys.roles, ['agent']),
        keyStands,
      ),
    )
    .limit(1);
  if (standing !== undefined) return [];
  const open = await tx
    .select({ approvalId: approvals.approvalId })
    .from(approvals)
    .where(
      and(
        eq(approvals.tenantId, tenantId),
        eq(approvals.agent, agent),
        inArray(approvals.status, ['pending', 'approved']),
      ),
    )
    .orderBy(approvals.approvalId)
    .for('update');
  return voidApprovals(
    tx,
    tenantId,
    open.map((row) => row.approvalId),
  );
}

/**
 * Takes the rows of both keys and of all operator keys of the tenant, in id order: operators revoke one after the
 * other, so that two cannot take the last two keys from each other.
 */
async function lockKeys(tx: Executor, tenantId: string, keyIds: string[]): Promise<void> {
  await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(
      and(
        eq(keys.tenantId, tenantId),
        or(inArray(keys.keyId, keyIds), arrayContains(keys.roles, ['operator'])),
      ),
    )
    .orderBy(keys.keyId)
    .for('update');
}

/** @throws Fault `last_operator_key` when no other operator key of the tenant stands; run under `lockKeys`. */
async function assertNotLastOperator(tx: Executor, tenantId: string, keyId: string): Promise<void> {
  const standing = await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(and(eq(keys.tenantId, tenantId), arrayContains(keys.roles, ['operator']), keyStands));
  if (standing.length !== 1 || standing[0]?.keyId !== keyId) return;
  throw new Fault(
    'last_operator_key',
    'this is the last operator key of the tenant. Make another with `POST /v1/keys` first',
  );
}

/**
 * Revokes a key and settles what rested on it, in the caller's transaction; the ids of approvals that changed.
 * The key's row is taken first: a vote or consume under way with it is waited for, and then seen.
 */
export async function revokeKeyIn(
  tx: Executor,
  tenantId: string,
  keyId: string,
  reason: string | null,
): Promise<string[]> {
  const [key] = await tx
    .select()
    .from(keys)
    .where(and(eq(keys.keyId, keyId), eq(keys.tenantId, tenantId)))
    .for('update');
  if (key === undefined) throw notFound();
  await tx
    .update(keys)
    .set({
      revokedAt: sql`coalesce(${keys.revokedAt}, clock_timestamp())`,
      // Rotated at first and revoked for another reason later: the latter is what holds.
      revokeReason: sql`coalesce(nullif(${keys.revokeReason}, ${ROTATED}), ${reason})`,
    })
    .where(eq(keys.keyId, keyId));
  const dropped = reason === ROTATED ? [] : await dropVotes(tx, tenantId, keyId);
  const voided = key.roles.includes('agent') ? await voidAsksOfKeyless(tx, tenantId, key.principal) : [];
  return [...dropped, ...voided];
}

/** Revokes a key at an operator's word; see `KeyStore.revokeKey`. */
export function createRevokeKey(database: Database, publisher: SignalPublisher) {
  return async (
    tenantId: string,
    keyId: string,
    reason: string | null,
    revokerKeyId: string,
  ): Promise<void> => {
    const changed = await inTransaction(database, async (tx) => {
      await lockKeys(tx, tenantId, [keyId, revokerKeyId]);
      await assertKeyStands(tx, revokerKeyId);
      await assertNotLastOperator(tx, tenantId, keyId);
      return revokeKeyIn(tx, tenantId, keyId, reason);
    });
    publisher.publish([keyId, ...changed]);
  };
}
