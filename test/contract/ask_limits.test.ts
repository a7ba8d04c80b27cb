import { afterAll, describe, expect, test } from 'vitest';
import { ask, authorize, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem, expire, newAgent } from './support.ts';

const PENDING_LIMIT = 5;
const service = await startTestService({ env: { AEGIS_PENDING_LIMIT: String(PENDING_LIMIT) } });
afterAll(() => service.close());

const askMany = (agent: Parameters<typeof ask>[0], count: number) =>
  Promise.all(Array.from({ length: count }, () => authorize(agent, refund(9000))));

describe('pending approvals of one agent', () => {
  test('past the limit an ask is 429 with the time until one expires; nothing is stored', async () => {
    const { client, principal } = await newAgent(service);
    for (let count = 0; count < PENDING_LIMIT; count += 1) await ask(client);
    const answer = await authorize(client, refund(9000));
    expectProblem(answer, 429, 'too_many_pending');
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(1700);
    expect(seconds).toBeLessThanOrEqual(1800);
    const [stored] = await service.sql`select count(*)::int from decisions where agent = ${principal}`;
    expect(stored?.count).toBe(PENDING_LIMIT);
  });

  test('allows, denies, dry runs and other agents are not held up', async () => {
    const { client } = await newAgent(service);
    for (let count = 0; count < PENDING_LIMIT; count += 1) await ask(client);
    expectOk(await authorize(client, refund(1)), { decision: 'allow' });
    expectOk(await authorize(client, refund(0)), { decision: 'deny' });
    expectOk(await authorize(client, refund(9000), { dry_run: true }), { decision: 'require_approval' });
    expectOk(await authorize((await newAgent(service)).client, refund(9000)), {
      decision: 'require_approval',
    });
  });

  test('a decided, cancelled or expired one makes room', async () => {
    const { client } = await newAgent(service);
    const ids: string[] = [];
    for (let count = 0; count < PENDING_LIMIT; count += 1) ids.push(await ask(client));
    const [approved, rejected, cancelled, expired] = ids as [string, string, string, string];
    const free = [
      () => service.approver.post(`/v1/approvals/${approved}/approve`),
      () => service.approver.post(`/v1/approvals/${rejected}/reject`),
      () => client.post(`/v1/approvals/${cancelled}/cancel`),
      () => expire(service, expired),
    ];
    for (const makeRoom of free) {
      expectProblem(await authorize(client, refund(9000)), 429, 'too_many_pending');
      await makeRoom();
      expectOk(await authorize(client, refund(9000)), { decision: 'require_approval' });
    }
  });

  test('30 concurrent asks do not pass it together', async () => {
    const { client } = await newAgent(service);
    const answers = await askMany(client, 30);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(PENDING_LIMIT);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      expectProblem(answer, 429, 'too_many_pending');
    }
    const { body } = await client.get('/v1/approvals?status=pending');
    expect(body.items).toHaveLength(PENDING_LIMIT);
  });
});

test('far more requests at once than there are connections are answered, none by a fault of ours', async () => {
  const { client } = await newAgent(service);
  const answers = await Promise.all([
    askMany(client, 150),
    ...Array.from({ length: 150 }, () => client.get('/v1/me')),
  ]);
  const statuses = new Set(answers.flat().map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 429]);
});

describe('asks an hour of one agent, with a limit of 4', () => {
  async function startLimited() {
    return startTestService({ env: { AEGIS_ASK_LIMIT_PER_HOUR: '4' } });
  }

  test('cancelled ones are counted, also under 30 concurrent asks; an hour later it may ask again', async () => {
    const limited = await startLimited();
    try {
      await limited.agent.post(`/v1/approvals/${await ask(limited.agent)}/cancel`);
      const answers = await askMany(limited.agent, 30);
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
      for (const answer of answers.filter((one) => one.status !== 200)) {
        expectProblem(answer, 429, 'throttled');
        const seconds = Number(answer.headers.get('retry-after'));
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(3600);
      }
      expectOk(await authorize(limited.agent, refund(1)), { decision: 'allow' });
      await limited.sql`update approvals set created_at = created_at - interval '61 minutes'`;
      expectOk(await authorize(limited.agent, refund(9000)), { decision: 'require_approval' });
    } finally {
      await limited.close();
    }
  });
});

test('Retry-After of the hourly limit says when the oldest ask leaves the hour', async () => {
  const limited = await startTestService({ env: { AEGIS_ASK_LIMIT_PER_HOUR: '1' } });
  try {
    await ask(limited.agent);
    await limited.sql`update approvals set created_at = created_at - interval '50 minutes'`;
    const answer = await authorize(limited.agent, refund(9000));
    expectProblem(answer, 429, 'throttled');
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(500);
    expect(seconds).toBeLessThanOrEqual(600);
  } finally {
    await limited.close();
  }
});
