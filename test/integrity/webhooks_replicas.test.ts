import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { deleteExpired } from '../../src/storage/delete_expired.ts';
import { ask } from '../support/calls.ts';
import { makeFolder, startServiceProcess } from '../support/service_process.ts';
import { createTestDatabase, type TestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { answerWith, startReceiver, type WebhookReceiver } from '../support/webhook_receiver.ts';

// NOTHING LOST, of what webhooks are to be told: across processes, and across their deaths.

vi.setConfig({ testTimeout: 120_000 });

const ENV = {
  AEGIS_WEBHOOK_ALLOW: '127.0.0.1/32',
  AEGIS_PENDING_LIMIT: '10000',
  AEGIS_ASK_LIMIT_PER_HOUR: '10000',
};

let database: TestDatabase;
let receiver: WebhookReceiver;
const closing: (() => Promise<unknown>)[] = [];

/** Lets all events be older than those that are kept for readers that come back, and has the old ones deleted. */
async function letDaysPass(): Promise<void> {
  const opened = openDatabase({ url: database.url, poolMax: 1 });
  await opened.sql`update approval_events set at = at - interval '3 days'`;
  await deleteExpired(opened);
  const [row] = await opened.sql`select count(*)::int as kept from approval_events`;
  // The one that waits for the webhook, and not the request before it.
  expect(row).toStrictEqual({ kept: 1 });
  await opened.close();
}

async function start(options: Parameters<typeof startTestService>[0]): Promise<TestService> {
  const service = await startTestService(options);
  closing.push(service.close);
  return service;
}

async function closeAll(): Promise<void> {
  await Promise.all(closing.splice(0).map((close) => close()));
}

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
});
afterEach(async () => {
  await closeAll();
  await receiver.close();
  await database.drop();
});

const webhook = (events = ['approval.requested']) => ({ url: receiver.url, events });

const toldIds = (): string[] => receiver.received.map(({ message }) => message.data.approval_id);

/** Lets an approval come to four fifths of its life, as the service or anybody else would write it. */
async function letExpire(id: string): Promise<void> {
  const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
  await sql`update approvals set expiring_told_at = clock_timestamp() where approval_id = ${id.slice('apr_'.length)}`;
  await sql.end();
}

describe('two processes', () => {
  test('that start together on an empty database, and pass on, tell each event once', async () => {
    const options = { databaseUrl: database.url, env: ENV, webhooks: { pollMs: 50 } };
    const services = await Promise.all([start(options), start(options)]);
    const first = services.find(({ tokens }) => tokens.OPERATOR !== '');
    const second = services.find((service) => service !== first);
    if (first === undefined || second === undefined) throw new Error('no first keys');
    await first.operator.post('/v1/webhooks', webhook());
    const agents = [first.agent, second.as(first.tokens.AGENT)];
    const asked: string[] = [];
    for (let count = 0; count < 40; count += 1) asked.push(await ask(agents[count % 2] ?? first.agent));
    await receiver.waitFor(40);
    await vi.waitFor(
      async () => {
        const [row] = await first.sql`
          select count(*)::int as made, count(*) filter (where status = 'delivered')::int as delivered
          from webhook_deliveries`;
        expect(row).toStrictEqual({ made: 40, delivered: 40 });
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(toldIds().toSorted()).toStrictEqual(asked.toSorted());
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(40);
    for (const { logged } of services) expect(logged).toStrictEqual([]);
  });

  test('both pass on: what one is woken for after the other has gone is told', async () => {
    const options = { databaseUrl: database.url, env: ENV, webhooks: { pollMs: 50 } };
    const first = await start(options);
    const second = await start(options);
    await first.operator.post('/v1/webhooks', webhook());
    const agent = second.as(first.tokens.AGENT);
    await closing.shift()?.();
    const id = await ask(agent);
    await receiver.waitFor(1);
    expect(toldIds()).toStrictEqual([id]);
  });
});

describe('what happened while no process ran', () => {
  test('is told after the next start, however long that was', async () => {
    const options = { databaseUrl: database.url, env: ENV };
    const former = await start(options);
    const id = await ask(former.agent);
    await former.operator.post('/v1/webhooks', webhook(['approval.expiring']));
    await closeAll();
    await letExpire(id);
    await letDaysPass();
    expect(receiver.received).toStrictEqual([]);
    await start(options);
    const [told] = await receiver.waitFor(1);
    expect(told?.message).toMatchObject({ type: 'approval.expiring', data: { approval_id: id } });
  });
});

describe('a process that is killed during an attempt', () => {
  test('leaves it to another, which makes it again under the same id: at least once', async () => {
    const folder = makeFolder();
    const env = { ...ENV, DATABASE_URL: database.url, AEGIS_DATA_DIR: folder.path };
    const killed = await startServiceProcess(env);
    receiver.answer = () => undefined;
    await killed.as(killed.tokens?.OPERATOR).post('/v1/webhooks', webhook());
    const id = await ask(killed.as(killed.tokens?.AGENT));
    await receiver.waitFor(1);
    await killed.end('SIGKILL');
    receiver.answer = answerWith(200);
    const sql = postgres(database.url, { max: 1, onnotice: () => undefined });
    const held = await sql`
      update pgboss.job set started_on = started_on - interval '2 minutes' where state = 'active' returning 1`;
    expect(held).toHaveLength(1);
    const next = await startServiceProcess(env);
    closing.push(() => next.end('SIGTERM'));
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 60_000, interval: 100 });
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    expect(toldIds()).toStrictEqual([id, id]);
    await vi.waitFor(async () => {
      const [row] = await sql`select status, attempts from webhook_deliveries`;
      expect(row).toStrictEqual({ status: 'delivered', attempts: 1 });
    });
    await sql.end();
    await closeAll();
    folder.remove();
  });
});
