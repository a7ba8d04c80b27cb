import { and, count, desc, eq, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { Writer } from '../core/agent_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import { type PageQuery, WEBHOOKS_SUBJECT, type Webhook, type WebhookStore } from '../core/webhook_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { webhooks } from './notify_schema.ts';
import { tenants } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction, type Transaction } from './transaction.ts';
import { endDeliveries, listDeliveries, redeliver } from './webhook_deliveries.ts';

const clock = sql`clock_timestamp()` as unknown as Date;

const formerSecretStands = sql<boolean>`coalesce(${webhooks.formerSecretUntil} > clock_timestamp(), false)`;

/** All but the secrets. */
const COLUMNS = {
  webhookId: webhooks.webhookId,
  url: webhooks.url,
  events: webhooks.events,
  createdBy: webhooks.createdBy,
  createdAt: webhooks.createdAt,
  disabledAt: webhooks.disabledAt,
  formerSecretUntil: webhooks.formerSecretUntil,
  formerSecretStands,
};

function toWebhook(row: Webhook & { formerSecretStands: boolean }): Webhook {
  const { formerSecretStands: stands, ...webhook } = row;
  return { ...webhook, formerSecretUntil: stands ? webhook.formerSecretUntil : null };
}

/** True of a webhook of the tenant that was not removed. */
function isWebhook(tenantId: string, webhookId: string): SQL {
  return and(
    eq(webhooks.tenantId, tenantId),
    eq(webhooks.webhookId, webhookId),
    isNull(webhooks.deletedAt),
  ) as SQL;
}

/** Those who add webhooks to a tenant do so one after the other. @throws Fault `invalid_request` at the limit. */
async function assertRoom(tx: Transaction, tenantId: string, limit: number): Promise<void> {
  await tx
    .select({ tenantId: tenants.tenantId })
    .from(tenants)
    .where(eq(tenants.tenantId, tenantId))
    .for('no key update');
  const [held] = await tx
    .select({ count: count() })
    .from(webhooks)
    .where(and(eq(webhooks.tenantId, tenantId), isNull(webhooks.deletedAt)));
  if ((held?.count ?? 0) >= limit) {
    throw new Fault('invalid_request', `a tenant has at most ${limit} webhooks. Delete one first`);
  }
}

function createWebhook(
  database: Database,
  ...[writer, webhook, after, limit]: Parameters<WebhookStore['create']>
): Promise<Webhook> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    await assertRoom(tx, writer.tenantId, limit);
    const [row] = await tx
      .insert(webhooks)
      .values({
        tenantId: writer.tenantId,
        ...webhook,
        cursorXid: after.xid,
        cursorSeq: BigInt(after.seq),
        createdBy: writer.principal,
      })
      .returning(COLUMNS);
    if (row === undefined) throw new Error('a webhook just written is not there');
    return toWebhook(row);
  });
}

async function listWebhooks(
  { db }: Database,
  tenantId: string,
  { limit, before }: PageQuery,
): Promise<{ items: Webhook[]; next: string | null }> {
  const rows = await db
    .select(COLUMNS)
    .from(webhooks)
    .where(
      and(
        eq(webhooks.tenantId, tenantId),
        isNull(webhooks.deletedAt),
        before === null ? undefined : lt(webhooks.webhookId, before),
      ),
    )
    .orderBy(desc(webhooks.webhookId))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(toWebhook);
  return { items, next: rows.length <= limit ? null : (items.at(-1)?.webhookId ?? null) };
}

function removeWebhook(database: Database, writer: Writer, webhookId: string): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    const removed = await tx
      .update(webhooks)
      // Nothing is signed by them any more.
      .set({ deletedAt: clock, secret: '', formerSecret: null, formerSecretUntil: null })
      .where(isWebhook(writer.tenantId, webhookId))
      .returning({ webhookId: webhooks.webhookId });
    if (removed.length === 0) throw notFound();
    await endDeliveries(tx, writer.tenantId, webhookId, 'the webhook was deleted');
  });
}

function rotateSecret(
  database: Database,
  ...[writer, webhookId, secret, formerHoldsSeconds]: Parameters<WebhookStore['rotate']>
): Promise<Webhook> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    const [row] = await tx
      .update(webhooks)
      .set({
        secret,
        formerSecret: sql`${webhooks.secret}` as unknown as string,
        formerSecretUntil:
          sql`clock_timestamp() + make_interval(secs => ${formerHoldsSeconds}::int)` as unknown as Date,
      })
      .where(isWebhook(writer.tenantId, webhookId))
      .returning(COLUMNS);
    if (row === undefined) throw notFound();
    return toWebhook(row);
  });
}

/** The webhooks in the database; see the port. */
export function createWebhookStore(database: Database, publisher: SignalPublisher): WebhookStore {
  const publish = <T>(result: T): T => {
    publisher.publish([WEBHOOKS_SUBJECT]);
    return result;
  };
  return {
    create: (...args) => createWebhook(database, ...args).then(publish),
    list: (...args) => guarded(() => listWebhooks(database, ...args)),
    remove: (...args) => removeWebhook(database, ...args),
    rotate: (...args) => rotateSecret(database, ...args),
    listDeliveries: (...args) => guarded(() => listDeliveries(database, ...args)),
    redeliver: (...args) => redeliver(database, ...args).then(publish),
  };
}
