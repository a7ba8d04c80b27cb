import { and, eq, lt, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { idempotencyKeys, tenants } from './schema.ts';

/** Deletes idempotency keys whose day is over, tenant by tenant. Failure counters are deleted by their limiter. */
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
  }
}
