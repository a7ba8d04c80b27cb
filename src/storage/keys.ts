import { and, desc, eq, sql } from 'drizzle-orm';
import type { KeyLimits } from '../core/caller.ts';
import type { KeyRecord, NewKey } from '../core/ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { keys, principals } from './schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

function toLimits(row: typeof keys.$inferSelect): KeyLimits {
  return {
    sourceTrustCeiling: row.sourceTrustCeiling,
    environments: row.environments,
    workspaces: row.workspaces,
    unattended: row.unattended,
    workspaceRoot: row.workspaceRoot,
    skill: row.skill,
  };
}

async function readKeys(executor: Executor, tenantId: string, keyId?: string): Promise<KeyRecord[]> {
  const rows = await executor
    .select({ key: keys, groups: principals.groups, owner: principals.owner })
    .from(keys)
    .innerJoin(
      principals,
      and(eq(principals.tenantId, keys.tenantId), eq(principals.principal, keys.principal)),
    )
    .where(and(eq(keys.tenantId, tenantId), keyId === undefined ? undefined : eq(keys.keyId, keyId)))
    .orderBy(desc(keys.keyId));
  return rows.map(({ key, groups, owner }) => ({
    keyId: key.keyId,
    principal: key.principal,
    roles: key.roles,
    groups,
    owner,
    limits: toLimits(key),
    createdBy: key.createdBy,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt,
    revokedAt: key.revokedAt,
    revokeReason: key.revokeReason,
  }));
}

/**
 * Writes a key and what it says of its principal: groups are added, an owner named replaces the former. The key of a
 * disabled or frozen principal is made disabled or frozen: the principal's row, taken here, is where both stand.
 */
export async function insertKey(tx: Executor, key: NewKey): Promise<void> {
  const [principal] = await tx
    .insert(principals)
    .values({
      tenantId: key.tenantId,
      principal: key.principal,
      groups: key.groups,
      owner: key.owner ?? key.defaultOwner,
    })
    .onConflictDoUpdate({
      target: [principals.tenantId, principals.principal],
      set: {
        groups: sql`(select coalesce(array_agg(distinct g order by g), '{}') from unnest(${principals.groups} || excluded.groups) g)`,
        owner: sql`coalesce(${key.owner}, ${principals.owner}, ${key.defaultOwner})`,
      },
    })
    .returning({ disabledAt: principals.disabledAt, frozenAt: principals.frozenAt });
  if (principal === undefined) throw new Error('a principal just written is not there');
  const { limits } = key;
  await tx.insert(keys).values({
    keyId: key.keyId,
    tokenHash: key.tokenHash,
    tenantId: key.tenantId,
    principal: key.principal,
    roles: key.roles,
    origin: key.origin,
    createdBy: key.createdBy,
    sourceTrustCeiling: limits.sourceTrustCeiling,
    environments: limits.environments,
    workspaces: limits.workspaces,
    unattended: limits.unattended,
    workspaceRoot: limits.workspaceRoot,
    skill: limits.skill,
    expiresAt: key.expiresAt,
    disabledAt: principal.disabledAt,
    frozenAt: principal.frozenAt,
  });
}

/** Makes a key; the maker's own key must stand at the write. */
export function createKey(database: Database, key: NewKey, makerKeyId: string | null): Promise<KeyRecord> {
  return inTransaction(database, async (tx) => {
    if (makerKeyId !== null) await lockStandingKey(tx, makerKeyId);
    await insertKey(tx, key);
    const [record] = await readKeys(tx, key.tenantId, key.keyId);
    if (record === undefined) throw new Error('a key just written is not there');
    return record;
  });
}

/** All keys of a tenant, newest first, revoked ones included. */
export function listKeys(database: Database, tenantId: string): Promise<KeyRecord[]> {
  return guarded(() => readKeys(database.db, tenantId));
}
