import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newActor, newAgent, ROOMY, readApproval } from '../contract/support.ts';
import type { ApiClient } from '../support/api_client.ts';
import { makeKey } from '../support/calls.ts';
import { createRpcOpener, RpcClient } from '../support/rpc_client.ts';
import { makeFolder, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// What becomes of asks and connections when whoever holds them goes, with two processes on one database.

let here: TestService;
let there: TestService;
const openAt = createRpcOpener();
const open = ({ url }: { url: string }, token: string) => openAt(url, token);

beforeAll(async () => {
  here = await startTestService({ env: ROOMY });
  there = await startTestService({ env: ROOMY, databaseUrl: here.databaseUrl });
});
afterAll(async () => {
  await there.close();
  await here.close();
});

const command = (more: object = {}) => ({ command: `make ${randomUUID()}`, ...more });

async function request(agent: RpcClient, more: object = {}): Promise<string> {
  const { id } = await agent.call('exec.approval.request', command({ two_phase: true, ...more }));
  return id;
}

async function isListed(approver: RpcClient, id: string): Promise<boolean> {
  const { pending } = await approver.call('exec.approvals.pending');
  return pending.some((entry: { id: string }) => entry.id === id);
}

async function waitForStatus(client: ApiClient, id: string, status: string, timeout = 10_000): Promise<void> {
  await vi.waitFor(async () => expect((await readApproval(client, id)).status).toBe(status), {
    timeout,
    interval: 20,
  });
}

describe('a lapsed lease', () => {
  test('is not renewed: what read as cancelled stays so', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const id = await request(agent);
    await here.sql`update approvals set asker_lease_until = clock_timestamp() - interval '1 second'
      where approval_id = ${id.slice(4)}`;
    // Both processes go on renewing what is theirs; one of them makes it durable.
    await vi.waitFor(
      async () => {
        expect(await readApproval(here.approver, id)).toMatchObject({ status: 'cancelled' });
        const rows = await here.sql`select status from approvals where approval_id = ${id.slice(4)}`;
        expect(rows).toEqual([{ status: 'cancelled' }]);
      },
      { timeout: 15_000, interval: 100 },
    );
  });
});

describe('two processes', () => {
  test('an ask made on one is notified, listed and resolved on the other, whose word the asker gets', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const approver = await open(there, here.tokens.APPROVER);
    const asked = agent.call('exec.approval.request', command());
    await vi.waitFor(() => expect(approver.notifications).toHaveLength(1), { timeout: 10_000, interval: 10 });
    const { id } = approver.notifications[0]?.params ?? {};
    expect(await isListed(approver, id)).toBe(true);
    await approver.call('exec.approval.resolve', { id, decision: 'allow_once' });
    expect(await asked).toMatchObject({ id, decision: 'allow_once' });
    await vi.waitFor(
      () =>
        expect(approver.notifications[1]).toMatchObject({ method: 'exec.approval.resolved', params: { id } }),
      { timeout: 10_000, interval: 10 },
    );
  });

  test('of several who resolve one ask at once, one is heard and the others are told that it is over', async () => {
    const id = await request(await open(here, here.tokens.AGENT));
    const approvers = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const service = index % 2 === 0 ? here : there;
        return open(service, (await newActor(here, ['approver'])).token);
      }),
    );
    const outcomes = await Promise.allSettled(
      approvers.map((approver, index) =>
        approver.call('exec.approval.resolve', { id, decision: index % 3 === 0 ? 'deny' : 'allow_once' }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({
          code: -32602,
          message: `approval not found or already resolved: ${id}`,
        });
      }
    }
  });
});

describe('when a connection that asked closes', () => {
  test('its asks are cancelled: in their status, in the list, for approvers of both surfaces', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const approver = await open(there, here.tokens.APPROVER);
    const ids = [await request(agent), await request(agent)];
    const waiting = agent.call('exec.approval.request', command());
    waiting.catch(() => undefined);
    await vi.waitFor(() => expect(approver.notifications).toHaveLength(3), { timeout: 10_000, interval: 10 });
    await agent.close();
    for (const id of ids) await waitForStatus(there.as(here.tokens.APPROVER), id, 'cancelled');
    const [id = ''] = ids;
    expect(await isListed(approver, id)).toBe(false);
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
      message: `approval not found or already resolved: ${id}`,
    });
    const approved = await there.as(here.tokens.APPROVER).post(`/v1/approvals/${id}/approve`);
    expect(approved.body).toMatchObject({ code: 'approval_already_decided', approval_status: 'cancelled' });
    expect(await readApproval(here.approver, id)).toMatchObject({
      decided_by: 'agent-1',
      decision_reason: expect.stringMatching(/./),
    });
    const resolved = () => approver.notifications.filter(({ method }) => method === 'exec.approval.resolved');
    await vi.waitFor(() => expect(resolved()).toHaveLength(3), { timeout: 10_000, interval: 10 });
    expect(resolved().map(({ params }) => params.status)).toEqual(Array(3).fill('cancelled'));
  });

  test('what is detached, what another connection asked and what was approved by then stay', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const other = await open(here, here.tokens.AGENT);
    const approver = await open(here, here.tokens.APPROVER);
    const [detached, others, approved, cancelled] = [
      await request(agent, { detached: true }),
      await request(other),
      await request(agent),
      await request(agent),
    ];
    const { action_hash } = await readApproval(here.approver, approved);
    await approver.call('exec.approval.resolve', { id: approved, decision: 'allow_once' });
    await agent.close();
    await waitForStatus(here.approver, cancelled, 'cancelled');
    expect(await isListed(approver, detached)).toBe(true);
    expect(await isListed(approver, others)).toBe(true);
    expect((await here.agent.post(`/v1/approvals/${approved}/consume`, { action_hash })).status).toBe(200);
    const again = await open(there, here.tokens.AGENT);
    const decision = again.call('exec.approval.waitDecision', { id: detached });
    await approver.call('exec.approval.resolve', { id: detached, decision: 'allow_once' });
    expect(await decision).toMatchObject({ decision: 'allow_once' });
  });

  test('while its ask is being made, nothing is left behind', async () => {
    const { token, principal } = await newAgent(here);
    const agent = await open(here, token);
    for (let index = 0; index < 5; index += 1) {
      agent.call('exec.approval.request', command()).catch(() => undefined);
    }
    await vi.waitFor(
      async () => {
        const asked = await here.sql`select 1 from approvals where agent = ${principal}`;
        expect(asked.length).toBeGreaterThan(0);
      },
      { timeout: 10_000, interval: 1 },
    );
    agent.socket.terminate();
    await agent.closed;
    const isOver = async () => {
      const [left] = await here.sql`select count(*)::int as count from approvals
        where agent = ${principal} and status = 'pending'`;
      expect(left?.count).toBe(0);
    };
    await vi.waitFor(isOver, { timeout: 10_000, interval: 20 });
  });

  test('with its process, by a signal that leaves it no time, they lapse with their lease and are then cancelled', async () => {
    const folder = makeFolder();
    const doomed = await startServiceProcess({
      DATABASE_URL: here.databaseUrl,
      AEGIS_DATA_DIR: folder.path,
      ...ROOMY,
    });
    const agent = await open(doomed, here.tokens.AGENT);
    const approver = await open(there, here.tokens.APPROVER);
    const id = await request(agent);
    expect(await isListed(approver, id)).toBe(true);
    await doomed.end('SIGKILL');
    await vi.waitFor(async () => expect(await isListed(approver, id)).toBe(false), {
      timeout: 30_000,
      interval: 100,
    });
    expect((await readApproval(here.approver, id)).status).toBe('cancelled');
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
      message: `approval not found or already resolved: ${id}`,
    });
    expect((await here.approver.post(`/v1/approvals/${id}/approve`)).body).toMatchObject({
      code: 'approval_already_decided',
      approval_status: 'cancelled',
    });
    await vi.waitFor(
      async () => {
        const [row] =
          await here.sql`select status, decided_by from approvals where approval_id = ${id.slice(4)}`;
        expect(row).toEqual({ status: 'cancelled', decided_by: 'agent-1' });
      },
      { timeout: 15_000, interval: 100 },
    );
    const { items } = (await here.approver.get('/v1/approvals?status=cancelled&limit=200')).body;
    expect(items.map((item: { approval_id: string }) => item.approval_id)).toContain(id);
    await vi.waitFor(
      () => expect(approver.notifications.at(-1)).toMatchObject({ params: { id, status: 'cancelled' } }),
      { timeout: 10_000, interval: 20 },
    );
    folder.remove();
  }, 120_000);

  test('in that its client no longer answers, it is cut off, and its asks are cancelled', async () => {
    const { token } = await newAgent(here);
    const agent = await RpcClient.open(there.url, token);
    const id = await request(agent);
    agent.socket.pause();
    await waitForStatus(here.approver, id, 'cancelled', 40_000);
    agent.socket.resume();
    expect(await agent.closed).toMatchObject({ code: 1006 });
  }, 60_000);

  test('with its service, in order, it is told so and its asks are cancelled at once', async () => {
    const third = await startTestService({ env: ROOMY, databaseUrl: here.databaseUrl });
    const agent = await open(third, here.tokens.AGENT);
    const id = await request(agent);
    await third.close();
    expect(await agent.closed).toMatchObject({ code: 1001 });
    expect((await readApproval(here.approver, id)).status).toBe('cancelled');
    expect(third.logged).toEqual([]);
  });
});

describe('a lease', () => {
  test('that has lapsed counts as soon as it has, in every list, whether or not a sweeper has been by', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const id = await request(agent, { detached: true });
    const elsewhere = randomUUID();
    await here.sql`update approvals set asker_connection = ${elsewhere},
      asker_lease_until = clock_timestamp() + interval '1 second' where approval_id = ${id.slice(4)}`;
    await vi.waitFor(
      async () => {
        const [row] = await here.sql`select asker_lease_until <= clock_timestamp() as lapsed from approvals
          where approval_id = ${id.slice(4)}`;
        expect(row?.lapsed).toBe(true);
      },
      { timeout: 5_000, interval: 5 },
    );
    expect((await readApproval(here.approver, id)).status).toBe('cancelled');
    const { items } = (await here.approver.get('/v1/approvals?status=pending&limit=200')).body;
    expect(items.map((item: { approval_id: string }) => item.approval_id)).not.toContain(id);
  });

  test('is renewed for as long as the connection is there', async () => {
    const agent = await open(here, here.tokens.AGENT);
    const id = await request(agent);
    const readLease = async (): Promise<number> => {
      const [row] =
        await here.sql`select asker_lease_until from approvals where approval_id = ${id.slice(4)}`;
      return row?.asker_lease_until.getTime();
    };
    const first = await readLease();
    await vi.waitFor(async () => expect(await readLease()).toBeGreaterThan(first), {
      timeout: 20_000,
      interval: 100,
    });
    expect((await readApproval(here.approver, id)).status).toBe('pending');
  });
});

describe('a credential that stops standing', () => {
  test.each(['agent', 'approver'])(
    'ends the connections of its %s within a second, on every process',
    async (role) => {
      const { token, keyId } = await newActor(here, [role]);
      const connections = [await open(here, token), await open(there, token)];
      expect((await here.operator.delete(`/v1/keys/${keyId}`)).status).toBe(204);
      const revokedAt = performance.now();
      for (const connection of connections) expect(await connection.closed).toMatchObject({ code: 1008 });
      expect(performance.now() - revokedAt).toBeLessThan(1_000);
    },
  );

  test('ends those of a frozen agent, and of a disabled principal', async () => {
    const [frozen, disabled] = [await newAgent(here), await newActor(here, ['approver'])];
    const [one, other] = [await open(there, frozen.token), await open(there, disabled.token)];
    await here.operator.post(`/v1/agents/${frozen.principal}/freeze`);
    await here.operator.call('PUT', `/v1/principals/${disabled.principal}`, { groups: [], disabled: true });
    expect(await one.closed).toMatchObject({ code: 1008 });
    expect(await other.closed).toMatchObject({ code: 1008 });
  });

  test('ends those of a key that expires', async () => {
    const expires = new Date(Date.now() + 1_500).toISOString();
    const { token } = await newAgent(here, { expires_at: expires });
    const connection = await open(there, token);
    expect(await connection.closed).toMatchObject({ code: 1008 });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires) - 100);
  });

  test('leaves no ask of its connection waiting, though its agent has another key', async () => {
    const { token, keyId, principal } = await newAgent(here);
    await makeKey(here.operator, { principal, roles: ['agent'] });
    const id = await request(await open(here, token));
    await here.operator.delete(`/v1/keys/${keyId}`);
    await waitForStatus(here.approver, id, 'cancelled');
  });

  test('is refused before anything is done for it, even while its connection is not told yet', async () => {
    const { token, keyId } = await newActor(here, ['approver']);
    const approver = await open(there, token);
    const id = await request(await open(here, here.tokens.AGENT));
    await here.sql`update keys set revoked_at = clock_timestamp() where key_id = ${keyId.slice(4)}`;
    expect(await approver.fail('exec.approval.resolve', { id, decision: 'allow_once' })).toMatchObject({
      data: { code: 'unauthenticated', status: 401 },
    });
    expect((await readApproval(here.approver, id)).status).toBe('pending');
  });
});

describe('another tenant', () => {
  test('is neither told of an ask, nor lists it, nor resolves it, nor waits for it', async () => {
    const root = await startTestService({
      databaseUrl: here.databaseUrl,
      env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: 'p'.repeat(40) },
    });
    const made = await root.as('p'.repeat(40)).post('/v1/tenants', { tenant_id: 'theirs' });
    const operator = here.as(made.body.operator_key.key);
    const key = async (roles: string[]) => (await makeKey(operator, { principal: roles[0], roles })).token;
    const theirs = await open(here, await key(['approver']));
    const theirAgent = await open(here, await key(['agent']));
    const ours = await open(here, here.tokens.APPROVER);
    const id = await request(await open(here, here.tokens.AGENT));
    await vi.waitFor(() => expect(ours.notifications).toHaveLength(1), { timeout: 10_000, interval: 10 });
    expect(await isListed(theirs, id)).toBe(false);
    const failure = await theirs.fail('exec.approval.resolve', { id, decision: 'deny' });
    expect(failure).toMatchObject({ code: -32602, message: `approval not found or already resolved: ${id}` });
    expect(await theirAgent.fail('exec.approval.waitDecision', { id })).toMatchObject({
      data: { code: 'not_found' },
    });
    await request(theirAgent);
    await vi.waitFor(() => expect(theirs.notifications).toHaveLength(1), { timeout: 10_000, interval: 10 });
    expect(ours.notifications).toHaveLength(1);
    await root.close();
  });
});
