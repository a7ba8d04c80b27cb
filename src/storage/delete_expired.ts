import { and, eq, lt, type SQL, sql } from 'drizzle-orm';
import { runs } from './agent_schema.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { approvalEvents } from './event_schema.ts';
import { webhookDeliveries } from './notify_schema.ts';
import { consoleSessions, enrolmentCodes, oidcLogins, webauthnChallenges } from './people_schema.ts';
import { idempotencyKeys, tenants } from './schema.ts';

/** A run unseen for this long is forgotten: what goes on for it is then taken for unattended and unknown. */
const RUN_MEMORY = sql`interval '30 days'`;
/** How long an event is told to those who come back for it. */
const EVENT_MEMORY = sql`interval '48 hours'`;
/** How long it waits for a webhook that it was not passed on to, and how long an operator sees what became of that. */
const WEBHOOK_MEMORY = sql`interval '30 days'`;

/** True of an event that every webhook in use was passed, or has let wait for too long. */
function isPassedOn(tenantId: string): SQL {
  return sql`(approval_events.at < clock_timestamp() - ${WEBHOOK_MEMORY} or not exists (
    select from webhooks w where w.tenant_id = ${tenantId} and w.deleted_at is null and w.disabled_at is null
      and (w.cursor_xid, w.cursor_seq) < (approval_events.xid, approval_events.seq)))`;
}

/**
 * Deletes idempotency keys whose day is over, runs long unseen, events past resuming, what has long been sent to
 * webhooks, and challenges and enrolment codes out of time, tenant by tenant; and sessions and sign-ins of the console
 * out of time. Failure counters are deleted by their limiter.
 */
export async function deleteExpired(database: Database): Promise<void> {
  const { db } = database;
  for (const table of [consoleSessions, oidcLogins]) {
    await guarded(() => db.delete(table).where(lt(table.expiresAt, sql`clock_timestamp()`)));
  }
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
    for (const table of [webauthnChallenges, enrolmentCodes]) {
      await guarded(() =>
        db
          .delete(table)
          .where(and(eq(table.tenantId, tenantId), lt(table.expiresAt, sql`clock_timestamp()`))),
      );
    }
    await guarded(() =>
      db
        .delete(approvalEvents)
        .where(
          and(
            eq(approvalEvents.tenantId, tenantId),
            lt(approvalEvents.at, sql`clock_timestamp() - ${EVENT_MEMORY}`),
            isPassedOn(tenantId),
          ),
        ),
    );
    await guarded(() =>
      db
        .delete(webhookDeliveries)
        .where(
          and(
            eq(webhookDeliveries.tenantId, tenantId),
            lt(webhookDeliveries.finishedAt, sql`clock_timestamp() - ${WEBHOOK_MEMORY}`),
          ),
        ),
    );
  }
}
