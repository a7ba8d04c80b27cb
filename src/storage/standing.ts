import { and, eq, gt, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import { agentFrozen, unauthenticated } from '../core/common_faults.ts';
import { createSharedRead } from './batcher.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { keys, tenants } from './schema.ts';

/** True of a key that is neither revoked nor expired at the clock's now, and whose principal is not disabled. */
export const keyStands = and(
  isNull(keys.revokedAt),
  isNull(keys.disabledAt),
  or(isNull(keys.expiresAt), gt(keys.expiresAt, sql`clock_timestamp()`)),
);

/**
 * Takes the key's row so that revoking or freezing it waits for the writing transaction, or is seen by it. Keys are
 * locked before principals, principals before approvals: one order, no deadlock. The lock is one that two do not
 * share: those who share a row let each other pass, and a key in constant use could never be revoked.
 * @throws Fault `unauthenticated` when the key does not stand, `agent_frozen` when its agent is frozen.
 */
export async function lockStandingKey(tx: Executor, keyId: string): Promise<void> {
  const [key] = await tx
    .select({ frozenAt: keys.frozenAt })
    .from(keys)
    .where(and(eq(keys.keyId, keyId), keyStands))
    .for('no key update');
  assertStanding(key);
}

function findStanding(executor: Executor, keyIds: string[]) {
  return executor
    .select({ keyId: keys.keyId, frozenAt: keys.frozenAt })
    .from(keys)
    .where(and(inArray(keys.keyId, keyIds), keyStands));
}

/** Why a writing statement found no standing key, or that it does stand. @throws as lockStandingKey. */
export async function assertKeyStands(executor: Executor, keyId: string): Promise<void> {
  const [key] = await findStanding(executor, [keyId]);
  assertStanding(key);
}

/** The same outside of a transaction, for any number of callers at once. */
export function createAssertKeyStands({ db }: Database): (keyId: string) => Promise<void> {
  const findKey = createSharedRead(async (keyIds) => {
    const found = await guarded(() => findStanding(db, keyIds));
    return new Map(found.map((key) => [key.keyId, key]));
  });
  return async (keyId) => assertStanding(await findKey(keyId));
}

function assertStanding(key: { frozenAt: Date | null } | undefined): void {
  if (key === undefined) throw unauthenticated();
  if (key.frozenAt !== null) throw agentFrozen();
}

/** The tenant's active revision now, or undefined without such a tenant. */
export async function selectActiveRevision(
  executor: Executor,
  tenantId: string,
): Promise<string | undefined> {
  const [tenant] = await executor
    .select({ activeRevision: tenants.activeRevision })
    .from(tenants)
    .where(eq(tenants.tenantId, tenantId));
  return tenant?.activeRevision;
}

/** The same for a caller's tenant. @throws Error for a tenant without a row, which no credential names. */
export async function readActiveRevision(executor: Executor, tenantId: string): Promise<string> {
  const activeRevision = await selectActiveRevision(executor, tenantId);
  if (activeRevision === undefined) throw new Error('the credential names a tenant without a row');
  return activeRevision;
}

/** A condition for the writing statement itself: `revision` is the tenant's active one. */
export function isRevisionActive(tenantId: string, revision: string): SQL {
  // Names are written out: drizzle leaves a column's table out where this stands in a selection.
  return sql`exists (select from tenants t where t.tenant_id = ${tenantId} and t.active_revision = ${revision})`;
}
