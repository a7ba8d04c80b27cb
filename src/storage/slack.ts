import { and, eq } from 'drizzle-orm';
import type { SlackStore } from '../core/slack_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { slackMessages } from './notify_schema.ts';
import { tenants } from './schema.ts';
import { createSlackUsers } from './slack_users.ts';

const SUBSCRIBER = 'slack';

/**
 * Who relays is said by a lease and not by a row's lock: a transaction that stays open while Slack is called would
 * hold back all events of later ones.
 */
function createRelayLease({ sql }: Database): Pick<SlackStore, 'holdRelay' | 'advance' | 'releaseRelay'> {
  return {
    holdRelay: (tenantId, holder, seconds) =>
      guarded(async () => {
        const [held] = await sql<{ xid: string; seq: string }[]>`
          insert into event_cursors as c (tenant_id, subscriber, xid, seq, lease_holder, lease_until)
          values (${tenantId}, ${SUBSCRIBER}, '0'::xid8, 0, ${holder}, clock_timestamp() + ${seconds} * interval '1 second')
          on conflict (tenant_id, subscriber) do update
            set lease_holder = excluded.lease_holder, lease_until = excluded.lease_until
            where c.lease_until is null or c.lease_until <= clock_timestamp() or c.lease_holder = excluded.lease_holder
          returning c.xid::text as xid, c.seq::text as seq`;
        return held;
      }),
    advance: (tenantId, holder, { xid, seq }) =>
      guarded(async () => {
        const moved = await sql`
          update event_cursors c set xid = ${xid}::xid8, seq = ${seq}::bigint
          where c.tenant_id = ${tenantId} and c.subscriber = ${SUBSCRIBER} and c.lease_holder = ${holder}
            and c.lease_until > clock_timestamp()
          returning c.subscriber`;
        return moved.length > 0;
      }),
    releaseRelay: (tenantId, holder) =>
      guarded(async () => {
        await sql`
          update event_cursors c set lease_holder = null, lease_until = null
          where c.tenant_id = ${tenantId} and c.subscriber = ${SUBSCRIBER} and c.lease_holder = ${holder}`;
      }),
  };
}

/** What Slack needs of the database; see the port. */
export function createSlackStore(database: Database): SlackStore {
  const { db } = database;
  const isOf = (tenantId: string, approvalId: string) =>
    and(eq(slackMessages.tenantId, tenantId), eq(slackMessages.approvalId, approvalId));
  return {
    ...createSlackUsers(database),
    ...createRelayLease(database),
    findMessage: (tenantId, approvalId) =>
      guarded(async () => {
        const { channel, ts, shownDigest } = slackMessages;
        const [found] = await db
          .select({ channel, ts, shownDigest })
          .from(slackMessages)
          .where(isOf(tenantId, approvalId));
        return found;
      }),
    keepMessage: (tenantId, approvalId, message) =>
      guarded(async () => {
        await db
          .insert(slackMessages)
          .values({ tenantId, approvalId, ...message })
          .onConflictDoUpdate({
            target: [slackMessages.tenantId, slackMessages.approvalId],
            set: message,
          });
      }),
    readMaskKey: (tenantId) =>
      guarded(async () => {
        const [tenant] = await db
          .select({ maskKey: tenants.maskKey })
          .from(tenants)
          .where(eq(tenants.tenantId, tenantId));
        return tenant?.maskKey;
      }),
  };
}
