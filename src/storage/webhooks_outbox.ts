import { and, eq, isNull, sql } from 'drizzle-orm';
import type { ApprovalEventType } from '../core/event_ports.ts';
import type { WebhookOutbox, WebhookReader } from '../core/webhook_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { webhookDeliveries, webhooks } from './notify_schema.ts';
import { inTransaction } from './transaction.ts';
import { createAttempts, sendAttempts } from './webhook_deliveries.ts';

interface ReaderRow {
  tenant_id: string;
  webhook_id: string;
  events: ApprovalEventType[];
  xid: string;
  seq: string;
  has_news: boolean;
  due: number;
}

async function listReaders({ sql: query }: Database, dueMax: number): Promise<WebhookReader[]> {
  const rows = await query<ReaderRow[]>`
    select w.tenant_id, w.webhook_id, w.events, w.cursor_xid::text as xid, w.cursor_seq::text as seq,
      exists (select from approval_events e where e.tenant_id = w.tenant_id
        and (e.xid, e.seq) > (w.cursor_xid, w.cursor_seq)) as has_news,
      (select count(*)::int from (select from webhook_deliveries d
        where d.tenant_id = w.tenant_id and d.webhook_id = w.webhook_id and d.status = 'pending'
          and d.next_attempt_at <= clock_timestamp() limit ${dueMax}) held) as due
    from webhooks w where w.deleted_at is null and w.disabled_at is null
    order by w.tenant_id, w.webhook_id`;
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    webhookId: row.webhook_id,
    events: row.events,
    cursor: { xid: row.xid, seq: row.seq },
    hasNews: row.has_news,
    due: row.due,
  }));
}

/**
 * ONE TRANSACTION: deliveries, their jobs, and how far the webhook has come. The events were read before it: a
 * transaction that stayed open meanwhile would hold back what all others are told. That nobody else has passed them
 * on is judged under the row's lock, by the cursor they were read from.
 */
function passOn(
  database: Database,
  ...[reader, to, news]: Parameters<WebhookOutbox['passOn']>
): Promise<boolean> {
  const { tenantId, webhookId, cursor } = reader;
  return inTransaction(database, async (tx) => {
    const isReader = and(eq(webhooks.tenantId, tenantId), eq(webhooks.webhookId, webhookId));
    const [held] = await tx
      .select({ webhookId: webhooks.webhookId })
      .from(webhooks)
      .where(
        and(
          isReader,
          isNull(webhooks.deletedAt),
          isNull(webhooks.disabledAt),
          eq(webhooks.cursorXid, cursor.xid),
          eq(webhooks.cursorSeq, BigInt(cursor.seq)),
        ),
      )
      .for('update', { skipLocked: true });
    if (held === undefined) return false;
    await tx
      .update(webhooks)
      .set({ cursorXid: to.xid, cursorSeq: BigInt(to.seq) })
      .where(isReader);
    if (news.length === 0) return true;
    const nextAttemptAt = sql`clock_timestamp()` as unknown as Date;
    await tx
      .insert(webhookDeliveries)
      .values(news.map((delivery) => ({ tenantId, webhookId, ...delivery, nextAttemptAt })));
    const first = { tenant_id: tenantId, round: 0, attempt: 0 };
    const tickets = news.map(({ deliveryId }) => ({ ...first, delivery_id: deliveryId }));
    await sendAttempts(tx, tickets, 0);
    return true;
  });
}

/** What events are passed on by; see the port. */
export function createWebhookOutbox(database: Database): WebhookOutbox {
  return {
    listReaders: (dueMax) => guarded(() => listReaders(database, dueMax)),
    passOn: (...args) => passOn(database, ...args),
    ...createAttempts(database),
  };
}
