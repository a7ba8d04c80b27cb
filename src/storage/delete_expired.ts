import { and, eq, lt, sql } from 'drizzle-orm';
import { runs } from './agent_schema.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { idempotencyKeys, tenants } from './schema.ts';

/** A run unseen for this long is forgotten: what goes on for it is then taken for unattended and unknown. */
const RUN_MEMORY = sql`interval '30 days'`;

/**
 * Deletes idempotency keys whose day is over and runs long unseen, tenant by tenant. Failure counters are deleted by
 * their limiter.
 */
export async function deleteExpired(database: Database): Promise<void> {
  const { db } = database;
  const all = await guarded(() => db.select({ tenantId: tenants.tenantId }).from(tenants));
  for (const { tenantId } of all) {
    await guarded(() =>
      db
        .delete(idempotencyKeys)
        .where(
          and(eq(idempotencyKeys.tenantId, tenantId), lt(idempotencyKeys.expiresAt, sql`clock_timestamp()`)),
        ),
    );
    await guarded(() =>
      db
        .delete(runs)
        .where(and(eq(runs.tenantId, tenantId), lt(runs.seenAt, sql`clock_timestamp() - ${RUN_MEMORY}`))),
    );
  }
}
