import { and, desc, eq, isNull, lt, type SQL, sql } from 'drizzle-orm';
import { notFound } from '../core/common_faults.ts';
import type {
  AttemptRecord,
  AttemptTicket,
  WebhookDelivery,
  WebhookOutbox,
  WebhookStore,
} from '../core/webhook_ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { sendJobs } from './job_boss.ts';
import { webhookDeliveries as deliveries, webhooks } from './notify_schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction, type Transaction } from './transaction.ts';

const clock = sql`clock_timestamp()` as unknown as Date;

const GONE = 'the receiver answered 410 and is gone';

const COLUMNS = {
  deliveryId: deliveries.deliveryId,
  type: deliveries.type,
  status: deliveries.status,
  attempts: deliveries.attempts,
  lastStatus: deliveries.lastStatus,
  lastError: deliveries.lastError,
  nextAttemptAt: deliveries.nextAttemptAt,
  createdAt: deliveries.createdAt,
  finishedAt: deliveries.finishedAt,
};

async function assertWebhook(executor: Executor, tenantId: string, webhookId: string): Promise<void> {
  const [webhook] = await executor
    .select({ webhookId: webhooks.webhookId })
    .from(webhooks)
    .where(
      and(eq(webhooks.tenantId, tenantId), eq(webhooks.webhookId, webhookId), isNull(webhooks.deletedAt)),
    );
  if (webhook === undefined) throw notFound();
}

/**
 * Locks a webhook; false when there is none. Whoever changes a webhook with its deliveries, as its deletion does, takes
 * this lock before those of deliveries: in another order they would wait for each other.
 */
async function lockWebhook(tx: Transaction, tenantId: string, webhookId: string): Promise<boolean> {
  const locked = await tx
    .select({ webhookId: webhooks.webhookId })
    .from(webhooks)
    .where(
      and(eq(webhooks.tenantId, tenantId), eq(webhooks.webhookId, webhookId), isNull(webhooks.deletedAt)),
    )
    .for('no key update');
  return locked.length > 0;
}

/** A page of a webhook's deliveries, newest first; see `WebhookStore.listDeliveries`. */
export async function listDeliveries(
  { db }: Database,
  ...[tenantId, webhookId, { status, limit, before }]: Parameters<WebhookStore['listDeliveries']>
): Promise<{ items: WebhookDelivery[]; next: string | null }> {
  await assertWebhook(db, tenantId, webhookId);
  const items = await db
    .select(COLUMNS)
    .from(deliveries)
    .where(
      and(
        eq(deliveries.tenantId, tenantId),
        eq(deliveries.webhookId, webhookId),
        status === null ? undefined : eq(deliveries.status, status),
        before === null ? undefined : lt(deliveries.deliveryId, before),
      ),
    )
    .orderBy(desc(deliveries.deliveryId))
    .limit(limit + 1);
  if (items.length <= limit) return { items, next: null };
  const page = items.slice(0, limit);
  return { items: page, next: page.at(-1)?.deliveryId ?? null };
}

/** Ends all of a webhook's deliveries that are under way. */
export async function endDeliveries(
  tx: Transaction,
  tenantId: string,
  webhookId: string,
  reason: string,
): Promise<void> {
  await tx
    .update(deliveries)
    .set({ status: 'dead', lastError: reason, nextAttemptAt: null, finishedAt: clock })
    .where(
      and(
        eq(deliveries.tenantId, tenantId),
        eq(deliveries.webhookId, webhookId),
        eq(deliveries.status, 'pending'),
      ),
    );
}

/** Begins another round of attempts of a delivery; see `WebhookStore.redeliver`. */
export function redeliver(
  database: Database,
  ...[writer, webhookId, deliveryId]: Parameters<WebhookStore['redeliver']>
): Promise<WebhookDelivery> {
  const { tenantId } = writer;
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    if (!(await lockWebhook(tx, tenantId, webhookId))) throw notFound();
    const [row] = await tx
      .update(deliveries)
      .set({
        status: 'pending',
        round: sql`${deliveries.round} + 1` as unknown as number,
        attempts: 0,
        nextAttemptAt: clock,
        finishedAt: null,
      })
      .where(
        and(
          eq(deliveries.tenantId, tenantId),
          eq(deliveries.webhookId, webhookId),
          eq(deliveries.deliveryId, deliveryId),
        ),
      )
      .returning({ ...COLUMNS, round: deliveries.round });
    if (row === undefined) throw notFound();
    const { round, ...delivery } = row;
    await sendAttempts(tx, [{ tenant_id: tenantId, delivery_id: deliveryId, round, attempt: 0 }], 0);
    return delivery;
  });
}

/**
 * Sends the jobs of attempts. First attempts go before all that are made again: those of a receiver that hangs come due
 * by the hundred, and would keep the others' waiting.
 */
export function sendAttempts(
  tx: Transaction,
  tickets: readonly AttemptTicket[],
  delaySeconds: number,
): Promise<void> {
  return sendJobs(
    tx,
    tickets.map((data) => ({
      queue: 'webhook_deliveries',
      data,
      delaySeconds,
      priority: data.attempt === 0 ? 1 : 0,
    })),
  );
}

/** True of the delivery while this attempt is the next one of it. */
function isNextAttempt(ticket: AttemptTicket): SQL {
  return and(
    eq(deliveries.tenantId, ticket.tenant_id),
    eq(deliveries.deliveryId, ticket.delivery_id),
    eq(deliveries.status, 'pending'),
    eq(deliveries.round, ticket.round),
    eq(deliveries.attempts, ticket.attempt),
  ) as SQL;
}

async function findDue({ db }: Database, ticket: AttemptTicket): ReturnType<WebhookOutbox['findDue']> {
  const [row] = await db
    .select({
      webhookId: deliveries.webhookId,
      payload: deliveries.payload,
      url: webhooks.url,
      secret: webhooks.secret,
      former: sql<
        string | null
      >`case when ${webhooks.formerSecretUntil} > clock_timestamp() then ${webhooks.formerSecret} end`,
    })
    .from(deliveries)
    .innerJoin(
      webhooks,
      and(eq(webhooks.tenantId, deliveries.tenantId), eq(webhooks.webhookId, deliveries.webhookId)),
    )
    .where(and(isNextAttempt(ticket), isNull(webhooks.deletedAt)));
  if (row === undefined) return undefined;
  const { secret, former, ...due } = row;
  return { ...due, secrets: former === null ? [secret] : [secret, former] };
}

/** What a record makes of the row. */
function toChange(record: AttemptRecord) {
  switch (record.kind) {
    case 'delivered':
      return { status: 'delivered' as const, lastError: null, nextAttemptAt: null, finishedAt: clock };
    case 'retry':
      return {
        lastError: record.error,
        nextAttemptAt:
          sql`clock_timestamp() + ${record.delaySeconds}::float8 * interval '1 second'` as unknown as Date,
      };
    case 'dead':
      return {
        status: 'dead' as const,
        lastError: record.error,
        nextAttemptAt: null,
        finishedAt: clock,
      };
    case 'gone':
      return { status: 'dead' as const, lastError: GONE, nextAttemptAt: null, finishedAt: clock };
  }
}

/** Whether a record says more of its webhook than of its delivery: that the receiver is gone, or may be back. */
function isOfWebhook({ kind }: AttemptRecord, { round }: AttemptTicket): boolean {
  return kind === 'gone' || (kind === 'delivered' && round > 0);
}

async function lockWebhookOf(tx: Transaction, ticket: AttemptTicket): Promise<void> {
  const [found] = await tx
    .select({ webhookId: deliveries.webhookId })
    .from(deliveries)
    .where(isNextAttempt(ticket));
  if (found !== undefined) await lockWebhook(tx, ticket.tenant_id, found.webhookId);
}

/** A receiver that says it is gone is sent nothing; one that then takes what was sent anew is back. */
async function switchWebhook(
  tx: Transaction,
  ticket: AttemptTicket,
  webhookId: string,
  { kind }: AttemptRecord,
): Promise<void> {
  await tx
    .update(webhooks)
    .set({ disabledAt: kind === 'gone' ? clock : null })
    .where(and(eq(webhooks.tenantId, ticket.tenant_id), eq(webhooks.webhookId, webhookId)));
  if (kind === 'gone') await endDeliveries(tx, ticket.tenant_id, webhookId, GONE);
}

function recordAttempt(database: Database, ticket: AttemptTicket, record: AttemptRecord): Promise<void> {
  return inTransaction(database, async (tx) => {
    const switches = isOfWebhook(record, ticket);
    if (switches) await lockWebhookOf(tx, ticket);
    const [row] = await tx
      .update(deliveries)
      .set({ attempts: ticket.attempt + 1, lastStatus: record.status, ...toChange(record) })
      .where(isNextAttempt(ticket))
      .returning({ webhookId: deliveries.webhookId });
    // Overtaken by a redelivery, or the webhook's end.
    if (row === undefined) return;
    if (switches) await switchWebhook(tx, ticket, row.webhookId, record);
    if (record.kind !== 'retry') return;
    await sendAttempts(tx, [{ ...ticket, attempt: ticket.attempt + 1 }], record.delaySeconds);
  });
}

/** The attempts of deliveries; see the port. */
export function createAttempts(database: Database): Pick<WebhookOutbox, 'findDue' | 'recordAttempt'> {
  return {
    findDue: (ticket) => guarded(() => findDue(database, ticket)),
    recordAttempt: (...args) => recordAttempt(database, ...args),
  };
}
