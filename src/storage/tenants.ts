import { ne, sql } from 'drizzle-orm';
import { revisionNotLoaded } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { NewKey } from '../core/ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { insertKey } from './keys.ts';
import { tenants } from './schema.ts';
import { lockStandingKey, readActiveRevision, selectActiveRevision } from './standing.ts';
import { inTransaction } from './transaction.ts';

/** Makes a tenant with its first operator key, in one transaction; see `TenantStore.createTenant`. */
export function createTenant(
  database: Database,
  tenantId: string,
  policyRevision: string,
  operatorKey: NewKey,
  maker: { tenantId: string; keyId: string },
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, maker.keyId);
    const activeRevision = await readActiveRevision(tx, maker.tenantId);
    if (activeRevision !== policyRevision) {
      throw revisionNotLoaded();
    }
    const made = await tx
      .insert(tenants)
      .values({ tenantId, activeRevision })
      .onConflictDoNothing()
      .returning({ tenantId: tenants.tenantId });
    if (made.length === 0) {
      throw new Fault('tenant_exists', 'the tenant id is taken. Choose another');
    }
    await insertKey(tx, operatorKey);
  });
}

/** Makes the tenant if it is absent. */
export async function ensureTenant(
  database: Database,
  tenantId: string,
  activeRevision: string,
): Promise<void> {
  await guarded(() => database.db.insert(tenants).values({ tenantId, activeRevision }).onConflictDoNothing());
}

/** Makes `revision` the one that decides for every tenant; from its commit no other decides anywhere. */
export async function activateRevision(database: Database, revision: string): Promise<void> {
  await guarded(() =>
    database.db
      .update(tenants)
      .set({ activeRevision: revision, activatedAt: sql`clock_timestamp()` as unknown as Date })
      .where(ne(tenants.activeRevision, revision)),
  );
}

/** The revision active for a tenant, or undefined without such a tenant. */
export function findActiveRevision(database: Database, tenantId: string): Promise<string | undefined> {
  return guarded(() => selectActiveRevision(database.db, tenantId));
}
