import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, authorize, refund } from '../support/calls.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp_proxy.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// FAIL CLOSED: a database that is gone means 503 and no effect; when it is back, so is the service.

/** Longer than a lost database may keep a caller waiting. */
const PATIENCE_MS = 5000;

/** Makes the keys and reads behind the proxy. */
let direct: TestService;
let service: TestService;
let proxy: TcpProxy;

beforeAll(async () => {
  direct = await startTestService();
  proxy = await startTcpProxy(direct.databaseUrl);
  service = await startTestService({ databaseUrl: proxy.url });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
  await direct.close();
});

const agent = () => service.as(direct.tokens.AGENT);
const approver = () => service.as(direct.tokens.APPROVER);
const operator = () => service.as(direct.tokens.OPERATOR);

async function readStatuses(): Promise<string[]> {
  const page = await direct.approver.get('/v1/approvals');
  return page.body.items.map(({ status }: { status: string }) => status);
}

async function untilReady(): Promise<void> {
  const status = async (): Promise<number> => (await service.anonymous.get('/readyz')).status;
  await expect.poll(status, { interval: 50, timeout: PATIENCE_MS }).toBe(200);
}

function expectUnavailable(answers: ApiAnswer[]): void {
  for (const { status, headers, body } of answers) {
    expect({ status, code: body.code }).toStrictEqual({ status: 503, code: 'unavailable' });
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(JSON.stringify(body)).not.toMatch(/postgres|ECONN|127\.0\.0\.1|sql/i);
  }
}

describe('a database that refuses connections', () => {
  afterEach(() => proxy.mend().catch(() => undefined));

  test('is 503 with `Retry-After` on every kind of call, soon, without an effect; and heals by itself', async () => {
    const [pending, approved] = [await ask(direct.agent), await askApproved(direct.agent, direct.approver)];
    await proxy.cut();
    const startedAt = performance.now();
    const answers = await Promise.all([
      authorize(agent(), refund(100)),
      authorize(agent(), refund(9000)),
      agent().post(`/v1/approvals/${approved}/consume`),
      agent().get(`/v1/approvals/${approved}`),
      agent().get(`/v1/approvals/${pending}?wait=20`),
      approver().post(`/v1/approvals/${pending}/approve`),
      approver().get('/v1/approvals'),
      operator().post('/v1/keys', { principal: 'x', roles: ['auditor'] }),
      service.anonymous.get('/v1/me'),
      service.anonymous.get('/readyz'),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(PATIENCE_MS);
    expectUnavailable(answers);
    expect((await service.anonymous.get('/readyz')).body.checks.database).not.toBe('ok');
    expect((await service.anonymous.get('/livez')).status).toBe(200);
    expect(await readStatuses()).toStrictEqual(['approved', 'pending']);
    await proxy.mend();
    await untilReady();
    expect((await agent().post(`/v1/approvals/${approved}/consume`)).status).toBe(200);
    expect((await approver().post(`/v1/approvals/${pending}/approve`)).body.status).toBe('approved');
  });

  test('ends a wait under way with 503, and the same wait works when it is back', async () => {
    const id = await ask(direct.agent);
    const before = service.statements.length;
    const waiting = agent().get(`/v1/approvals/${id}?wait=20`);
    const hasRead = () => service.statements.slice(before).some((text) => text.includes('json_agg'));
    await expect.poll(hasRead, { interval: 5 }).toBe(true);
    await proxy.cut();
    expectUnavailable([await waiting]);
    await proxy.mend();
    await untilReady();
    const again = agent().get(`/v1/approvals/${id}?wait=20`);
    await direct.approver.post(`/v1/approvals/${id}/approve`);
    expect((await again).body.status).toBe('approved');
  });
});

describe('a database that answers nothing while connections stay open', () => {
  /** A statement is given up after twelve seconds, when the server's own limit should have ended it long ago. */
  const SILENCE_MS = 14_000;
  afterEach(() => proxy.thaw());

  test('is 503 with `Retry-After` in the end, with and without a credential; and heals by itself', async () => {
    proxy.freeze();
    const startedAt = performance.now();
    const answers = await Promise.all([
      agent().get('/v1/me'),
      authorize(agent(), refund(100)),
      service.anonymous.get('/v1/me'),
      service.anonymous.get('/readyz'),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(SILENCE_MS);
    expectUnavailable(answers);
    proxy.thaw();
    await untilReady();
    expect((await authorize(agent(), refund(100))).body.decision).toBe('allow');
  });
});

test('connections that the server ends are replaced without a lost answer after the first', async () => {
  const id = await askApproved(direct.agent, direct.approver);
  await direct.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'aegis%'`;
  await untilReady();
  const consumer_token = 'token-of-this-very-call';
  const consume = () => agent().post(`/v1/approvals/${id}/consume`, { consumer_token });
  const first = await consume();
  const answer = first.status === 503 ? await consume() : first;
  expect(answer.body.status).toBe('consumed');
});
