import { and, arrayContains, eq, inArray, sql } from 'drizzle-orm';
import { subjectsOf } from '../core/asker_ports.ts';
import { notFound } from '../core/common_faults.ts';
import type { Database, Executor } from './database.ts';
import { assertOperatorRemains, lockKeys } from './operator_keys.ts';
import { keys } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { assertKeyStands, keyStands } from './standing.ts';
import { inTransaction } from './transaction.ts';
import { settleApprovals } from './void_approvals.ts';

/** The reason under which a key's votes go on counting: the same person goes on with another key. */
const ROTATED = 'rotated';

async function hasStandingAgentKey(tx: Executor, tenantId: string, principal: string): Promise<boolean> {
  const [standing] = await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(
      and(
        eq(keys.tenantId, tenantId),
        eq(keys.principal, principal),
        arrayContains(keys.roles, ['agent']),
        keyStands,
      ),
    )
    .limit(1);
  return standing !== undefined;
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
  const isKeyless = key.roles.includes('agent') && !(await hasStandingAgentKey(tx, tenantId, key.principal));
  return settleApprovals(tx, tenantId, {
    votedWith: reason === ROTATED ? [] : [keyId],
    askedBy: isKeyless ? { agent: key.principal, voidReason: 'key_revoked', by: null } : null,
  });
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
      await lockKeys(tx, tenantId, inArray(keys.keyId, [keyId, revokerKeyId]));
      await assertKeyStands(tx, revokerKeyId);
      await assertOperatorRemains(tx, tenantId, (key) => key.keyId === keyId);
      return revokeKeyIn(tx, tenantId, keyId, reason);
    });
    publisher.publish([keyId, ...subjectsOf(tenantId, changed)]);
  };
}
