import { eq } from 'drizzle-orm';
import { Fault } from '../core/fault.ts';
import type { NewKey } from '../core/ports.ts';
import type { NewRevision } from '../core/rules_ports.ts';
import { holdBase } from './base_rules.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { insertKey } from './keys.ts';
import { insertActivation, insertRevision } from './revisions.ts';
import { tenants } from './schema.ts';
import { lockStandingKey, selectActiveRevision } from './standing.ts';
import { inTransaction } from './transaction.ts';

const POLICY_FOLDER = { principal: null, keyId: null };

/** Makes the tenant with the revision it starts from, an event of its history. False when it is there already. */
async function insertTenant(tx: Executor, first: NewRevision): Promise<boolean> {
  const [made] = await tx
    .insert(tenants)
    .values({ tenantId: first.tenantId, activeRevision: first.revision })
    .onConflictDoNothing()
    .returning({ activatedAt: tenants.activatedAt });
  if (made === undefined) return false;
  await insertRevision(tx, first, POLICY_FOLDER);
  await insertActivation(tx, first, { replaced: null, at: made.activatedAt, by: null });
  return true;
}

/** Makes a tenant with its first revision and operator key, in one transaction; see `TenantStore.createTenant`. */
export function createTenant(
  database: Database,
  first: NewRevision,
  operatorKey: NewKey,
  makerKeyId: string,
): Promise<'created' | 'moved'> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, makerKeyId);
    if (!(await holdBase(tx, first.baseDigest))) return 'moved';
    if (!(await insertTenant(tx, first))) {
      throw new Fault('tenant_exists', 'the tenant id is taken. Choose another');
    }
    await insertKey(tx, operatorKey);
    return 'created';
  });
}

/** Makes the tenant, without keys, if it is absent. */
export async function ensureTenant(database: Database, first: NewRevision): Promise<void> {
  await inTransaction(database, (tx) => insertTenant(tx, first));
}

/** The revision active for a tenant, or undefined without such a tenant. */
export function findActiveRevision(database: Database, tenantId: string): Promise<string | undefined> {
  return guarded(() => selectActiveRevision(database.db, tenantId));
}

/** What keys the fingerprints of a tenant's masked values. @throws Error without such a tenant. */
export function readMaskKey({ db }: Database, tenantId: string): Promise<string> {
  return guarded(async () => {
    const [tenant] = await db
      .select({ maskKey: tenants.maskKey })
      .from(tenants)
      .where(eq(tenants.tenantId, tenantId));
    if (tenant === undefined) throw new Error('there is no such tenant');
    return tenant.maskKey;
  });
}
