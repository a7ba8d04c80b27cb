import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, askApproved, makeKey } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp_proxy.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Waits across processes: woken by a notification, and by reading where notifications may not be heard.

let here: TestService;
/** Another process: its own pool and, by way of the proxy, its own listener. */
let there: TestService;
let listenProxy: TcpProxy;

beforeAll(async () => {
  here = await startTestService();
  listenProxy = await startTcpProxy(here.databaseUrl);
  there = await startTestService({
    env: { DATABASE_LISTEN_URL: listenProxy.url },
    databaseUrl: here.databaseUrl,
  });
});
afterAll(async () => {
  listenProxy.thaw();
  await there.close();
  await listenProxy.close();
  await here.close();
});

interface Waited {
  answer: ApiAnswer;
  at: number;
}

/** Begins to wait, and resolves to the wait once its first reading was made. */
async function beginWait(client: ApiClient, id: string, query = ''): Promise<{ end: Promise<Waited> }> {
  const before = countReadings();
  const end = client
    .get(`/v1/approvals/${id}?wait=20${query}`)
    .then((answer) => ({ answer, at: performance.now() }));
  await expect.poll(countReadings, { interval: 2 }).toBeGreaterThan(before);
  return { end };
}

/** How often an approval was read on the other process. */
function countReadings(): number {
  return there.statements.filter((text) => text.includes('json_agg') && text.includes('"approvals"')).length;
}

const agentThere = (): ApiClient => there.as(here.tokens.AGENT);

async function approveHere(id: string): Promise<number> {
  const approved = await here.approver.post(`/v1/approvals/${id}/approve`);
  expect(approved.body.status).toBe('approved');
  return performance.now();
}

/** Milliseconds from a decision here to the end of a wait there. */
async function measureWake(): Promise<number> {
  const id = await ask(here.agent);
  const { end } = await beginWait(agentThere(), id);
  const decidedAt = await approveHere(id);
  const { answer, at } = await end;
  expect(answer.body.status).toBe('approved');
  return at - decidedAt;
}

describe('a wait on another process', () => {
  test('ends at once when the approval is decided', async () => {
    // The best of three: on a busy machine one may be late.
    const waits = [await measureWake(), await measureWake(), await measureWake()];
    expect(Math.min(...waits)).toBeLessThan(300);
  });

  test('ends when the version moves, if it named one', async () => {
    const id = await ask(here.agent);
    const { end } = await beginWait(agentThere(), id, '&version=1');
    const { body } = await here.approver.get(`/v1/approvals/${id}`);
    const toolCall = { ...body.tool_call, parameters: { amount: 7000, currency: 'usd' } };
    await here.approver.post(`/v1/approvals/${id}/edit`, { tool_call: toolCall });
    expect((await end).answer.body).toMatchObject({ status: 'pending', version: 2 });
  });

  test('ends with 401 within a second of the revocation of its key', async () => {
    const key = await makeKey(here.operator, { principal: 'auditor-w', roles: ['auditor'] });
    const id = await ask(here.agent);
    const { end } = await beginWait(there.as(key.token), id);
    expect((await here.operator.delete(`/v1/keys/${key.id}`)).status).toBe(204);
    const revokedAt = performance.now();
    const { answer, at } = await end;
    expect(answer.body.code).toBe('unauthenticated');
    expect(at - revokedAt).toBeLessThan(1000);
  });

  test('ends with `expired` at the expiry, and answers at once afterwards', async () => {
    const id = await ask(here.agent);
    await here.sql`
      update approvals set expires_at = clock_timestamp() + interval '300 milliseconds'
      where approval_id = ${uuidOf(id)}`;
    const { end } = await beginWait(agentThere(), id);
    expect((await end).answer.body.status).toBe('expired');
    const startedAt = performance.now();
    expect((await agentThere().get(`/v1/approvals/${id}?wait=20`)).body.status).toBe('expired');
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test('on what is approved already answers at once', async () => {
    const id = await askApproved(here.agent, here.approver);
    const answer = await agentThere().get(`/v1/approvals/${id}?wait=55`);
    expect(answer.body.status).toBe('approved');
  });
});

describe('a listener whose connection was ended', () => {
  const listeners = () => here.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'aegis listener'`;

  /** Ends every listener's connection; milliseconds until all have another. */
  async function measureReturn(): Promise<number> {
    const former = (await listeners()).map(({ pid }) => pid);
    expect(former).toHaveLength(2);
    await here.sql`select pg_terminate_backend(pid) from unnest(${former}::int[]) as pid`;
    const endedAt = performance.now();
    const countPresent = async (): Promise<number> =>
      (await listeners()).filter(({ pid }) => !former.includes(pid)).length;
    await expect.poll(countPresent, { interval: 10, timeout: 5000 }).toBe(2);
    return performance.now() - endedAt;
  }

  test('is back within half a second, and waits of before and after are woken', async () => {
    const id = await ask(here.agent);
    const { end } = await beginWait(agentThere(), id);
    // The best of three: on a busy machine one may be late.
    const returns = [await measureReturn(), await measureReturn(), await measureReturn()];
    expect(Math.min(...returns)).toBeLessThan(500);
    const decidedAt = await approveHere(id);
    expect((await end).at - decidedAt).toBeLessThan(1000);
    expect(await measureWake()).toBeLessThan(1000);
  });

  test('reads again what its waits depend on, so that a change of meanwhile is not missed', async () => {
    const id = await ask(here.agent);
    const { end } = await beginWait(agentThere(), id);
    await listenProxy.cut();
    await approveHere(id);
    const mendedAt = performance.now();
    await listenProxy.mend();
    const { answer, at } = await end;
    expect(answer.body.status).toBe('approved');
    expect(at - mendedAt).toBeLessThan(1500);
  });
});

describe('a listener that hangs', () => {
  afterEach(() => listenProxy.thaw());

  test('is not relied on: within some two seconds waits read by themselves', async () => {
    const id = await ask(here.agent);
    const { end } = await beginWait(agentThere(), id);
    listenProxy.freeze();
    const decidedAt = await approveHere(id);
    const { answer, at } = await end;
    expect(answer.body.status).toBe('approved');
    expect(at - decidedAt).toBeLessThan(2500);
    // From now on the process knows that it hears nothing.
    expect(await measureWake()).toBeLessThan(1000);
  });
});
