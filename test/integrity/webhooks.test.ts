import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HostAddress } from '../../src/notify/webhooks/find_addresses.ts';
import { ask, askApproved, makeKey } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import {
  answerWith,
  type Received,
  startReceiver,
  verify,
  type WebhookReceiver,
} from '../support/webhook_receiver.ts';

// Webhooks from the change to the receiver: a real service, a real database, a real receiver.

/** What a name leads to now; 127.0.0.1 is allowed here, and 127.0.0.2 is not. */
let addresses: HostAddress[] = [];
const ENV = {
  AEGIS_WEBHOOK_ALLOW: '127.0.0.1/32',
  AEGIS_PENDING_LIMIT: '10000',
  AEGIS_ASK_LIMIT_PER_HOUR: '10000',
};
const TRIALS = {
  retrySeconds: [0.05, 0.05],
  attemptSeconds: 2,
  pollMs: 50,
  resolveHost: async () => addresses,
};

let service: TestService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  service = await startTestService({ env: ENV, webhooks: TRIALS });
});
afterAll(() => service.close());

beforeEach(async () => {
  addresses = [{ address: '127.0.0.1', family: 4 }];
  receiver = await startReceiver();
});
afterEach(async () => {
  const { body } = await service.operator.get('/v1/webhooks');
  for (const { webhook_id: id } of body.items) await service.operator.delete(`/v1/webhooks/${id}`);
  await receiver.close();
});

interface MadeWebhook {
  id: string;
  secret: string;
}

async function create(
  events: string[] = ['approval.requested'],
  url = `${receiver.url}/hook`,
  operator = service.operator,
): Promise<MadeWebhook> {
  const made = await operator.post('/v1/webhooks', { url, events });
  expect(made.status, made.text).toBe(201);
  return { id: made.body.webhook_id, secret: made.body.secret };
}

interface WireDelivery {
  delivery_id: string;
  status: string;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string | null;
}

async function deliveriesOf({ id }: MadeWebhook, query = ''): Promise<WireDelivery[]> {
  const { body } = await service.operator.get(`/v1/webhooks/${id}/deliveries${query}`);
  return body.items;
}

function waitForDelivery(webhook: MadeWebhook, expected: Partial<WireDelivery>): Promise<WireDelivery> {
  return vi.waitFor(
    async () => {
      const [delivery] = await deliveriesOf(webhook);
      expect(delivery).toMatchObject(expected);
      return delivery as WireDelivery;
    },
    { timeout: 20_000, interval: 20 },
  );
}

const isOf =
  (id: string, type?: string) =>
  ({ message }: Received): boolean =>
    message.data.approval_id === id && (type === undefined || message.type === type);

const idsOf = (received: readonly Received[]): unknown[] =>
  received.map(({ headers }) => headers['webhook-id']);

describe('a delivery', () => {
  test('tells of an approval in short, signed, and of nothing of its parameters', async () => {
    const { secret } = await create(['approval.requested']);
    const id = await ask(service.agent);
    const [received] = await receiver.waitFor(1, isOf(id));
    if (received === undefined) throw new Error('nothing was received');
    expect(verify(received, secret)).toMatchObject({
      type: 'approval.requested',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: {
        type: 'approval.requested',
        approval_id: id,
        agent: 'agent-1',
        status: 'pending',
        version: 1,
        tool: 'stripe',
      },
    });
    expect(received.body).not.toContain('9000');
    expect(received.path).toBe('/hook');
    expect(received.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Aegis-Webhooks',
      'webhook-id': expect.stringMatching(/^dlv_/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[^ ]+$/),
    });
  });

  test('is made of each event that the webhook hears of, in order, and of no other', async () => {
    const webhook = await create(['approval.requested', 'approval.consumed']);
    const id = await askApproved(service.agent, service.approver);
    expect((await service.agent.post(`/v1/approvals/${id}/consume`)).status).toBe(200);
    const last = await receiver.waitFor(2, isOf(id));
    expect(last.map(({ message }) => message.type)).toStrictEqual([
      'approval.requested',
      'approval.consumed',
    ]);
    // What was passed over would have been passed on before the last.
    expect(await deliveriesOf(webhook)).toHaveLength(2);
  });

  test('of what happened before the webhook was made is not made', async () => {
    const before = await ask(service.agent);
    const webhook = await create();
    const after = await ask(service.agent);
    await receiver.waitFor(1, isOf(after));
    expect(receiver.received.filter(isOf(before))).toStrictEqual([]);
    expect(await deliveriesOf(webhook)).toHaveLength(1);
  });

  test('of a change that was rolled back is never made', async () => {
    const id = await ask(service.agent);
    const webhook = await create(['approval.expiring', 'approval.requested']);
    const uuid = id.slice('apr_'.length);
    await service.sql
      .begin(async (tx) => {
        await tx`update approvals set expiring_told_at = clock_timestamp() where approval_id = ${uuid}`;
        const [told] =
          await tx`select 1 from approval_events where approval_id = ${uuid} and type = 'approval.expiring'`;
        expect(told).toBeDefined();
        throw new Error('rolled back');
      })
      .catch((error: Error) => expect(error.message).toBe('rolled back'));
    const next = await ask(service.agent);
    await receiver.waitFor(1, isOf(next));
    expect(receiver.received.filter(isOf(id))).toStrictEqual([]);
    expect(await deliveriesOf(webhook)).toHaveLength(1);
  });

  test('is signed by both secrets after a rotation, and by the new one alone when the day is over', async () => {
    const webhook = await create();
    const rotated = await service.operator.post(`/v1/webhooks/${webhook.id}/rotate`);
    const first = await ask(service.agent);
    const [both] = await receiver.waitFor(1, isOf(first));
    if (both === undefined) throw new Error('nothing was received');
    expect(verify(both, webhook.secret)).toMatchObject({ type: 'approval.requested' });
    expect(verify(both, rotated.body.secret)).toMatchObject({ type: 'approval.requested' });
    await service.sql`update webhooks set former_secret_until = clock_timestamp()
      where former_secret is not null`;
    const second = await ask(service.agent);
    const [one] = await receiver.waitFor(1, isOf(second));
    if (one === undefined) throw new Error('nothing was received');
    expect(verify(one, rotated.body.secret)).toMatchObject({ type: 'approval.requested' });
    expect(() => verify(one, webhook.secret)).toThrow(/No matching signature/);
  });
});

describe('an attempt that fails', () => {
  test('is made again under the same id with the same body, until it succeeds', async () => {
    const webhook = await create();
    let count = 0;
    receiver.answer = (response, received) => {
      count += 1;
      answerWith(count < 3 ? 500 : 204)(response, received);
    };
    await ask(service.agent);
    const all = await receiver.waitFor(3);
    expect(new Set(idsOf(all)).size).toBe(1);
    expect(new Set(all.map(({ body }) => body)).size).toBe(1);
    for (const received of all) verify(received, webhook.secret);
    await waitForDelivery(webhook, {
      status: 'delivered',
      attempts: 3,
      last_status: 204,
      last_error: null,
      next_attempt_at: null,
    });
  });

  test('for the last time becomes a dead letter, and is sent anew when an operator says so', async () => {
    const webhook = await create();
    receiver.answer = answerWith(500);
    await ask(service.agent);
    const dead = await waitForDelivery(webhook, {
      status: 'dead',
      attempts: 3,
      last_status: 500,
      last_error: 'the answer was 500',
      next_attempt_at: null,
    });
    expect(await deliveriesOf(webhook, '?status=dead')).toStrictEqual([dead]);
    expect(await deliveriesOf(webhook, '?status=delivered')).toStrictEqual([]);
    receiver.answer = answerWith(200);
    const path = `/v1/webhooks/${webhook.id}/deliveries/${dead.delivery_id}/redeliver`;
    const again = await service.operator.post(path);
    expect(again).toMatchObject({ status: 200, body: { status: 'pending', attempts: 0 } });
    await waitForDelivery(webhook, { status: 'delivered', attempts: 1, last_status: 200 });
    expect(new Set(idsOf(receiver.received)).size).toBe(1);
    expect(receiver.received).toHaveLength(4);
  });

  test('with a redirect follows it to nowhere', async () => {
    const webhook = await create();
    receiver.answer = answerWith(307, { location: `${receiver.url}/elsewhere` });
    await ask(service.agent);
    await waitForDelivery(webhook, { status: 'dead', last_status: 307 });
    expect(receiver.received.map(({ path }) => path)).toStrictEqual(['/hook', '/hook', '/hook']);
  });

  test.each([429, 503])('with %s is made again no sooner than Retry-After says', async (status) => {
    const webhook = await create();
    receiver.answer = answerWith(status, { 'retry-after': '3600' });
    await ask(service.agent);
    const waiting = await waitForDelivery(webhook, { status: 'pending', attempts: 1, last_status: status });
    const seconds = (Date.parse(waiting.next_attempt_at ?? '') - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(3590);
    expect(seconds).toBeLessThan(3600 * 1.1);
    const [job] = await service.sql`
      select extract(epoch from start_after - now())::float8 as seconds from pgboss.job
      where data ->> 'delivery_id' = ${waiting.delivery_id.slice('dlv_'.length)} and state = 'created'`;
    expect(Math.abs(job?.seconds - seconds)).toBeLessThan(5);
  });

  test('because nobody listens is told so, in few words', async () => {
    const webhook = await create(undefined, 'http://127.0.0.1:9/token-in-path');
    await ask(service.agent);
    await waitForDelivery(webhook, {
      status: 'dead',
      attempts: 3,
      last_status: null,
      last_error: 'no answer (ECONNREFUSED)',
    });
  });

  test('because of a hanging receiver is given up in time', async () => {
    const webhook = await create();
    receiver.answer = () => undefined;
    await ask(service.agent);
    await waitForDelivery(webhook, { attempts: 1, last_error: 'no answer within 2 seconds' });
  });

  test('does not matter when the answer has come and only its body hangs or never ends', async () => {
    const webhook = await create();
    receiver.answer = (response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(timer));
    };
    await ask(service.agent);
    await waitForDelivery(webhook, { status: 'delivered', attempts: 1, last_status: 200 });
  });
});

describe('a receiver that answers 410', () => {
  test('is sent nothing more, until a redelivery succeeds: then what happened meanwhile follows', async () => {
    const webhook = await create();
    receiver.answer = answerWith(410);
    await ask(service.agent);
    const dead = await waitForDelivery(webhook, { status: 'dead', attempts: 1, last_status: 410 });
    const listed = await service.operator.get('/v1/webhooks');
    expect(listed.body.items[0].disabled_at).toMatch(/Z$/);
    const meanwhile = await ask(service.agent);
    const other = await startReceiver();
    await create(undefined, other.url);
    const later = await ask(service.agent);
    await other.waitFor(1, isOf(later));
    expect(receiver.received).toHaveLength(1);
    receiver.answer = answerWith(200);
    await service.operator.post(`/v1/webhooks/${webhook.id}/deliveries/${dead.delivery_id}/redeliver`);
    await receiver.waitFor(1, isOf(meanwhile));
    await receiver.waitFor(1, isOf(later));
    await other.close();
  });
});

describe('a deleted webhook', () => {
  test('is sent nothing more, not even what was under way', async () => {
    const webhook = await create();
    receiver.answer = answerWith(503, { 'retry-after': '1' });
    await ask(service.agent);
    const { delivery_id } = await waitForDelivery(webhook, { attempts: 1 });
    await service.operator.delete(`/v1/webhooks/${webhook.id}`);
    const [row] = await service.sql`
      select status, last_error from webhook_deliveries where delivery_id = ${delivery_id.slice('dlv_'.length)}`;
    expect(row).toStrictEqual({ status: 'dead', last_error: 'the webhook was deleted' });
    // Its job still comes, and does nothing.
    await vi.waitFor(
      async () => {
        const [job] = await service.sql`
          select 1 from pgboss.job where data ->> 'delivery_id' = ${delivery_id.slice('dlv_'.length)}
          and state < 'completed'`;
        expect(job).toBeUndefined();
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(receiver.received).toHaveLength(1);
  });
});

describe('where a name leads', () => {
  test('is looked at again at each attempt: one that leads inside by now is not connected to', async () => {
    const inner = await startReceiver();
    const { port } = new URL(inner.url);
    const webhook = await create(undefined, `http://hooks.example.com:${port}/`);
    addresses = [{ address: '127.0.0.2', family: 4 }];
    await ask(service.agent);
    await waitForDelivery(webhook, {
      status: 'dead',
      last_status: null,
      last_error: 'the host leads to an address that is not public',
    });
    addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    const [{ delivery_id } = { delivery_id: '' }] = await deliveriesOf(webhook);
    await service.operator.post(`/v1/webhooks/${webhook.id}/deliveries/${delivery_id}/redeliver`);
    await waitForDelivery(webhook, { status: 'dead', attempts: 3 });
    expect(inner.received).toStrictEqual([]);
    addresses = [{ address: '127.0.0.1', family: 4 }];
    await service.operator.post(`/v1/webhooks/${webhook.id}/deliveries/${delivery_id}/redeliver`);
    await inner.waitFor(1);
    expect(inner.received[0]?.headers.host).toBe(`hooks.example.com:${port}`);
    await inner.close();
  });

  test('is where is connected to, whatever it leads to a moment later', async () => {
    let looks = 0;
    const { port } = new URL(receiver.url);
    const trials = {
      ...TRIALS,
      resolveHost: async () => {
        looks += 1;
        return [{ address: '127.0.0.1', family: 4 }];
      },
    };
    const other = await startTestService({ env: ENV, webhooks: trials });
    await create(undefined, `http://hooks.example.com:${port}/`, other.operator);
    expect(looks).toBe(1);
    await ask(other.agent);
    await receiver.waitFor(1);
    // One look an attempt: the connection itself resolves nothing.
    expect(looks).toBe(2);
    await other.close();
  });
});

describe('several webhooks', () => {
  test('do not wait for one that hangs', async () => {
    const hanging = await startReceiver();
    hanging.answer = () => undefined;
    const slow = await create(undefined, hanging.url);
    await create();
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push(await ask(service.agent));
    await receiver.waitFor(20);
    expect(receiver.received.map(({ message }) => message.data.approval_id).toSorted()).toStrictEqual(
      ids.toSorted(),
    );
    // The one that hangs holds up its own events: no more are due at once than it has room for.
    const held = await deliveriesOf(slow, '?status=pending');
    expect(held.length).toBeLessThanOrEqual(16);
    hanging.answer = answerWith(200);
    await hanging.waitFor(20, ({ message }) => ids.includes(message.data.approval_id));
    await hanging.close();
  });

  test("hear of their own tenant's approvals alone", async () => {
    const token = randomBytes(24).toString('hex');
    const shared = await startTestService({
      env: { ...ENV, AEGIS_BOOTSTRAP_OPERATOR_KEY: token },
      webhooks: TRIALS,
    });
    const tenants = await Promise.all(
      ['ours', 'theirs'].map(async (tenantId) => {
        const made = await shared.as(token).post('/v1/tenants', { tenant_id: tenantId });
        const operator = shared.as(made.body.operator_key.key);
        const agent = await makeKey(operator, { principal: 'agent-1', roles: ['agent'] });
        await makeKey(operator, { principal: 'approver-1', roles: ['approver'] });
        const webhook = await create(undefined, `${receiver.url}/${tenantId}`, operator);
        return { tenantId, operator, agent: shared.as(agent.token), webhook };
      }),
    );
    const [ours, theirs] = tenants;
    if (ours === undefined || theirs === undefined) throw new Error('no tenants');
    const mine = await ask(ours.agent);
    const other = await ask(theirs.agent);
    await receiver.waitFor(2);
    expect(receiver.received.map(({ path, message }) => [path, message.data.approval_id]).toSorted()).toEqual(
      [
        ['/ours', mine],
        ['/theirs', other],
      ].toSorted(),
    );
    const listed = await ours.operator.get(`/v1/webhooks/${ours.webhook.id}/deliveries`);
    const [{ delivery_id: deliveryId }] = listed.body.items;
    const foreign = [
      await theirs.operator.get(`/v1/webhooks/${ours.webhook.id}/deliveries`),
      await theirs.operator.delete(`/v1/webhooks/${ours.webhook.id}`),
      await theirs.operator.post(`/v1/webhooks/${ours.webhook.id}/rotate`),
      await theirs.operator.post(`/v1/webhooks/${ours.webhook.id}/deliveries/${deliveryId}/redeliver`),
      await theirs.operator.post(`/v1/webhooks/${theirs.webhook.id}/deliveries/${deliveryId}/redeliver`),
    ];
    expect(foreign.map(({ status }) => status)).toStrictEqual([404, 404, 404, 404, 404]);
    await shared.close();
  });
});

test('nothing that was logged or stored of attempts here holds a secret or quotes a receiver', async () => {
  expect(JSON.stringify(service.logged)).not.toContain('whsec_');
  expect(service.logged).toStrictEqual([]);
  const kept = await service.sql`select last_error from webhook_deliveries where last_error is not null`;
  expect(kept.length).toBeGreaterThan(3);
  expect(JSON.stringify(kept)).not.toMatch(/whsec_|token-in-path|thanks/);
  const jobs = await service.sql`select data, output from pgboss.job`;
  expect(jobs.length).toBeGreaterThan(3);
  expect(JSON.stringify(jobs)).not.toMatch(/whsec_|http/);
});
