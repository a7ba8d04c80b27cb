import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as newUuid } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ask } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { answerWith, startReceiver, verify, type WebhookReceiver } from '../support/webhook_receiver.ts';

// Webhooks where many things happen at once, or in an order that nobody meant.

const ATTEMPT_SECONDS = 2;
/** As many as one process attempts at once. */
const ATTEMPTS_MAX = 64;
/** How long it is counted what is asked of the database. */
const WATCHED_MS = 3000;

let service: TestService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  service = await startTestService({
    env: {
      AEGIS_WEBHOOK_ALLOW: '127.0.0.1/32',
      AEGIS_PENDING_LIMIT: '10000',
      AEGIS_ASK_LIMIT_PER_HOUR: '10000',
    },
    webhooks: { retrySeconds: [0.05, 0.05], attemptSeconds: ATTEMPT_SECONDS, pollMs: 50 },
  });
});
afterAll(() => service.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  const { body } = await service.operator.get('/v1/webhooks');
  for (const { webhook_id: id } of body.items) await service.operator.delete(`/v1/webhooks/${id}`);
  await receiver.close();
});

async function create(url = receiver.url): Promise<{ id: string; uuid: string; secret: string }> {
  const made = await service.operator.post('/v1/webhooks', { url, events: ['approval.requested'] });
  expect(made.status, made.text).toBe(201);
  const { webhook_id: id, secret } = made.body;
  return { id, uuid: id.slice('whk_'.length), secret };
}

async function statusesOf({ uuid }: { uuid: string }): Promise<string[]> {
  const rows = await service.sql`select status from webhook_deliveries where webhook_id = ${uuid}`;
  return rows.map(({ status }) => status);
}

test('a receiver that says to all at once that it is gone makes no attempt wait for another', async () => {
  const webhook = await create();
  const held: (() => void)[] = [];
  receiver.answer = (response, received) => held.push(() => answerWith(410)(response, received));
  await Promise.all(Array.from({ length: 8 }, () => ask(service.agent)));
  await receiver.waitFor(8);
  for (const answer of held) answer();
  await vi.waitFor(async () => {
    const jobs = await service.sql`select 1 from pgboss.job where state < 'completed'`;
    expect(jobs).toHaveLength(0);
  });
  expect(await statusesOf(webhook)).toStrictEqual(Array.from({ length: 8 }, () => 'dead'));
  // A deadlock ends in one, or in a lock that is waited for in vain.
  expect(service.logged).toStrictEqual([]);
});

test('a first attempt goes before hundreds that are made again at a receiver that hangs', async () => {
  const hanging = await startReceiver();
  hanging.answer = () => undefined;
  const { uuid } = await create(hanging.url);
  const late = Array.from({ length: ATTEMPTS_MAX * 10 }, () => newUuid());
  await service.sql`
    with late as (
      insert into webhook_deliveries (tenant_id, delivery_id, webhook_id, type, payload, status, attempts, next_attempt_at)
      select 'default', id, ${uuid}, 'approval.requested', '{}', 'pending', 1, now() from unnest(${late}::uuid[]) id
      returning delivery_id)
    insert into pgboss.job (name, data, retry_limit) select 'webhook_deliveries',
      jsonb_build_object('tenant_id', 'default', 'delivery_id', delivery_id, 'round', 0, 'attempt', 1), 1 from late`;
  await hanging.waitFor(ATTEMPTS_MAX);
  await create();
  const askedAt = performance.now();
  const id = await ask(service.agent);
  await receiver.waitFor(1, ({ message }) => message.data.approval_id === id);
  // In its turn it would come after all those, of which so many are attempted at once.
  const inTurnMs = (late.length / ATTEMPTS_MAX - 1) * ATTEMPT_SECONDS * 1000;
  expect(performance.now() - askedAt).toBeLessThan(inTurnMs / 2);
  await hanging.close();
});

test('an old transaction that holds events back is not asked about all the time', async () => {
  await create();
  let looks = 0;
  await service.sql.begin(async (tx) => {
    await tx`create table held_back (n int)`;
    await ask(service.agent);
    const from = service.statements.length;
    await sleep(WATCHED_MS);
    looks = service.statements.slice(from).filter((text) => text.includes('as has_news')).length;
    expect(receiver.received).toStrictEqual([]);
  });
  // At first every 25 ms, soon every 400.
  expect(looks).toBeGreaterThan(2);
  expect(looks).toBeLessThan(WATCHED_MS / 120);
  await receiver.waitFor(1);
});

test('of three secrets the last two sign, so that rotating twice ends one that leaked at once', async () => {
  const { id, secret } = await create();
  const second = (await service.operator.post(`/v1/webhooks/${id}/rotate`)).body.secret;
  const third = (await service.operator.post(`/v1/webhooks/${id}/rotate`)).body.secret;
  await ask(service.agent);
  const [received] = await receiver.waitFor(1);
  if (received === undefined) throw new Error('nothing was received');
  for (const known of [second, third]) verify(received, known);
  expect(() => verify(received, secret)).toThrow(/No matching signature/);
});

describe('a redelivery', () => {
  test('of one that is under way takes its place: the attempt under way decides nothing more', async () => {
    const webhook = await create();
    const held: (() => void)[] = [];
    receiver.answer = (response, received) => held.push(() => answerWith(500)(response, received));
    await ask(service.agent);
    const [first] = await receiver.waitFor(1);
    receiver.answer = answerWith(200);
    const again = await service.operator.post(
      `/v1/webhooks/${webhook.id}/deliveries/${first?.headers['webhook-id']}/redeliver`,
    );
    expect(again).toMatchObject({ status: 200, body: { status: 'pending', attempts: 0 } });
    await vi.waitFor(async () => expect(await statusesOf(webhook)).toStrictEqual(['delivered']));
    for (const answer of held) answer();
    await vi.waitFor(async () => {
      const jobs = await service.sql`select 1 from pgboss.job where state < 'completed'`;
      expect(jobs).toHaveLength(0);
    });
    expect(await statusesOf(webhook)).toStrictEqual(['delivered']);
    expect(receiver.received).toHaveLength(2);
  });

  test("that races with its webhook's deletion leaves nothing pending for ever", async () => {
    const webhook = await create();
    await ask(service.agent);
    const [first] = await receiver.waitFor(1);
    await vi.waitFor(async () => expect(await statusesOf(webhook)).toStrictEqual(['delivered']));
    const waiting = async (): Promise<number> => {
      const rows = await service.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length;
    };
    let isDeleted = false;
    const calls: Promise<{ status: number }>[] = [];
    await service.sql.begin(async (tx) => {
      await tx`select 1 from webhook_deliveries where webhook_id = ${webhook.uuid} for update`;
      const path = `/v1/webhooks/${webhook.id}`;
      calls.push(service.operator.post(`${path}/deliveries/${first?.headers['webhook-id']}/redeliver`));
      await vi.waitFor(async () => expect(await waiting()).toBe(1));
      calls.push(
        service.operator.delete(path).then((answer) => {
          isDeleted = true;
          return answer;
        }),
      );
      await vi.waitFor(async () => expect(isDeleted || (await waiting()) === 2).toBe(true));
    });
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toStrictEqual([200, 204]);
    expect(await statusesOf(webhook)).toStrictEqual(['dead']);
  });
});
