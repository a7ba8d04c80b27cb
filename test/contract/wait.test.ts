import { afterAll, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  uuidOf,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

interface Timed {
  answer: ApiAnswer;
  at: number;
}

/** Starts a wait; resolves once the service has read its row, and so holds it. */
async function startWait(id: string, query: string, client: ApiClient = service.agent, headers = {}) {
  const readsBefore = countReads();
  let isOver = false;
  const ended: Promise<Timed> = client.get(`/v1/approvals/${id}${query}`, { headers }).then((answer) => {
    isOver = true;
    return { answer, at: performance.now() };
  });
  await expect.poll(() => isOver || countReads() > readsBefore, { interval: 5, timeout: 10_000 }).toBe(true);
  expect(isOver).toBe(false);
  return { ended };
}

function countReads(): number {
  return service.statements.filter((text) => /from "approvals"/.test(text)).length;
}

/** The least of three delays: what the service takes, whatever else the machine does meanwhile. */
async function fastest(measure: () => Promise<number>): Promise<number> {
  return Math.min(await measure(), await measure(), await measure());
}

async function elapsed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const startedAt = performance.now();
  return { result: await work(), ms: performance.now() - startedAt };
}

describe('a wait on a pending approval', () => {
  test.each(['approve', 'reject', 'cancel'])('answers within 200 ms of %s', async (call) => {
    const client = call === 'cancel' ? service.operator : service.approver;
    const delay = await fastest(async () => {
      const id = await ask(service.agent);
      const held = await startWait(id, '?wait=20');
      const decided = await client.post(`/v1/approvals/${id}/${call}`);
      const decidedAt = performance.now();
      const { answer, at } = await held.ended;
      expectOk(answer, { status: decided.body.status });
      expect(answer.headers.get('etag')).toBe('"1"');
      return at - decidedAt;
    });
    expect(delay).toBeLessThan(200);
  });

  test('answers with the state as it is when its time is over', async () => {
    const id = await ask(service.agent);
    const { result, ms } = await elapsed(() => service.agent.get(`/v1/approvals/${id}?wait=1`));
    expectOk(result, { status: 'pending' });
    expect(ms).toBeGreaterThan(950);
    expect(ms).toBeLessThan(10_000);
  });

  test('with the version it knows, answers within 200 ms of an edit, though still pending', async () => {
    const delay = await fastest(async () => {
      const id = await ask(service.agent);
      const tool_call = await editedCall(service.approver, id, { amount: 8000 });
      const held = await startWait(id, '?wait=20&version=1');
      expectOk(await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call }), { version: 2 });
      const editedAt = performance.now();
      const { answer, at } = await held.ended;
      expectOk(answer, { status: 'pending', version: 2 });
      return at - editedAt;
    });
    expect(delay).toBeLessThan(200);
  });

  test('without a version, an edit does not end it', async () => {
    const id = await ask(service.agent);
    const held = await startWait(id, '?wait=20');
    const tool_call = await editedCall(service.approver, id, { amount: 8000 });
    expectOk(await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call }), { version: 2 });
    expectOk(await service.approver2.post(`/v1/approvals/${id}/reject`));
    expectOk((await held.ended).answer, { status: 'rejected', version: 2 });
  });

  test('a first of two votes does not end it', async () => {
    const id = await ask(service.agent, refund(200_000));
    const held = await startWait(id, '?wait=20');
    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    expectOk(await service.approver2.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
    const { answer } = await held.ended;
    expectOk(answer, { status: 'approved' });
    expect(answer.body.votes).toHaveLength(2);
  });

  test('ends when a vote is dropped, by the version it knows', async () => {
    const leaver = await newApprover(service, ['finance']);
    const id = await ask(service.agent, refund(200_000));
    expectOk(await leaver.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    const held = await startWait(id, '?wait=20&version=1');
    await service.operator.delete(`/v1/keys/${leaver.keyId}`);
    expectOk((await held.ended).answer, { status: 'pending', version: 2, votes: [] });
  });

  test('ends at expires_at with expired', async () => {
    const id = await ask(service.agent);
    await service.sql`update approvals set expires_at = clock_timestamp() + interval '700 milliseconds'
      where approval_id = ${uuidOf(id)}`;
    const { result, ms } = await elapsed(() => service.agent.get(`/v1/approvals/${id}?wait=20`));
    expectOk(result, { status: 'expired' });
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(result.body.expires_at));
    expect(ms).toBeLessThan(10_000);
  });

  test('many at once are all answered', async () => {
    const id = await ask(service.agent);
    const waits = Array.from({ length: 50 }, () => service.approver.get(`/v1/approvals/${id}?wait=20`));
    const held = await startWait(id, '?wait=20');
    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
    for (const answer of [...(await Promise.all(waits)), (await held.ended).answer]) {
      expectOk(answer, { status: 'approved' });
    }
  });
});

describe('answers at once', () => {
  test.each(['approved', 'rejected', 'consumed', 'cancelled', 'expired'])('when %s', async (status) => {
    const id = status === 'approved' || status === 'consumed' ? await approved() : await ask(service.agent);
    if (status === 'rejected') await service.approver.post(`/v1/approvals/${id}/reject`);
    if (status === 'consumed') await service.agent.post(`/v1/approvals/${id}/consume`);
    if (status === 'cancelled') await service.agent.post(`/v1/approvals/${id}/cancel`);
    if (status === 'expired') {
      await service.sql`update approvals set created_at = created_at - interval '1 day',
        expires_at = clock_timestamp() where approval_id = ${uuidOf(id)}`;
    }
    const { result, ms } = await elapsed(() => service.agent.get(`/v1/approvals/${id}?wait=55&version=1`));
    expectOk(result, { status });
    expect(ms).toBeLessThan(10_000);
  });

  const approved = () => askApproved(service.agent, service.approver);

  test('when the version is another than the one known', async () => {
    const id = await ask(service.agent);
    const { result, ms } = await elapsed(() => service.agent.get(`/v1/approvals/${id}?wait=55&version=7`));
    expectOk(result, { status: 'pending', version: 1 });
    expect(ms).toBeLessThan(10_000);
  });

  test('without wait, and with wait=0', async () => {
    const id = await ask(service.agent);
    for (const query of ['', '?wait=0', '?version=1', '?wait=0&version=1']) {
      const { result, ms } = await elapsed(() => service.agent.get(`/v1/approvals/${id}${query}`));
      expectOk(result, { status: 'pending' });
      expect(ms).toBeLessThan(10_000);
    }
  });

  test('with 404 when there is nothing to wait for', async () => {
    const { client } = await newAgent(service);
    const id = await ask(service.agent);
    const { result, ms } = await elapsed(() => client.get(`/v1/approvals/${id}?wait=55`));
    expectProblem(result, 404, 'not_found');
    expect(ms).toBeLessThan(10_000);
  });
});

describe('Prefer', () => {
  test.each(['wait=20', 'respond-async, wait=20', 'wait = 20; x=y', 'Wait=20'])(
    '%s waits',
    async (prefer) => {
      const id = await ask(service.agent);
      const held = await startWait(id, '', service.agent, { prefer });
      expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
      expectOk((await held.ended).answer, { status: 'approved' });
    },
  );

  test('the query wins over it, other preferences are ignored', async () => {
    const id = await ask(service.agent);
    const { result, ms } = await elapsed(async () => [
      await service.agent.get(`/v1/approvals/${id}?wait=0`, { headers: { prefer: 'wait=50' } }),
      await service.agent.get(`/v1/approvals/${id}`, { headers: { prefer: 'return=minimal' } }),
    ]);
    for (const answer of result) expectOk(answer, { status: 'pending' });
    expect(ms).toBeLessThan(10_000);
  });

  test.each(['wait=56', 'wait=-1', 'wait=soon', 'wait=', 'wait=1.5'])('%s is 422', async (prefer) => {
    const id = await ask(service.agent);
    expectProblem(
      await service.agent.get(`/v1/approvals/${id}`, { headers: { prefer } }),
      422,
      'invalid_request',
    );
  });
});

test.each([
  'wait=56',
  'wait=-1',
  'wait=1.5',
  'wait=',
  'wait=x',
  'wait=1&wait=2',
  'version=0',
  'version=x',
  'timeout=1',
])('?%s is 422', async (query) => {
  const id = await ask(service.agent);
  expectProblem(await service.agent.get(`/v1/approvals/${id}?${query}`), 422, 'invalid_request');
});

describe('a wait whose credential stops standing', () => {
  test('revoked: 401 within a second', async () => {
    const approver = await newApprover(service);
    const id = await ask(service.agent);
    const held = await startWait(id, '?wait=30', approver.client);
    expect((await service.operator.delete(`/v1/keys/${approver.keyId}`)).status).toBe(204);
    const revokedAt = performance.now();
    const { answer, at } = await held.ended;
    expectProblem(answer, 401, 'unauthenticated');
    expect(at - revokedAt).toBeLessThan(1000);
  });

  test('expired: 401, long before the wait’s own end', async () => {
    const approver = await newApprover(service);
    await service.sql`update keys set expires_at = clock_timestamp() + interval '800 milliseconds'
      where key_id = ${uuidOf(approver.keyId)}`;
    const id = await ask(service.agent);
    const { result, ms } = await elapsed(() => approver.client.get(`/v1/approvals/${id}?wait=30`));
    expectProblem(result, 401, 'unauthenticated');
    expect(ms).toBeLessThan(10_000);
  });

  test('another key of the principal goes on waiting', async () => {
    const agent = await newAgent(service);
    const other = await service.operator.post('/v1/keys', { principal: agent.principal, roles: ['agent'] });
    const id = await ask(agent.client);
    const held = await startWait(id, '?wait=20', service.as(other.body.key));
    await service.operator.delete(`/v1/keys/${agent.keyId}`);
    expect((await readApproval(service.approver, id)).status).toBe('pending');
    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
    expectOk((await held.ended).answer, { status: 'approved' });
  });

  test('the agent’s last key revoked: its own wait is 401, an approver’s ends with voided', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const own = await startWait(id, '?wait=20', agent.client);
    const approvers = await startWait(id, '?wait=20', service.approver);
    await service.operator.delete(`/v1/keys/${agent.keyId}`);
    expectProblem((await own.ended).answer, 401, 'unauthenticated');
    expectOk((await approvers.ended).answer, { status: 'voided', void_reason: 'key_revoked' });
  });
});

test('a client that goes away does not harm the next', async () => {
  const id = await ask(service.agent);
  const gone = new AbortController();
  const aborted = service.agent.get(`/v1/approvals/${id}?wait=30`, { signal: gone.signal });
  gone.abort();
  await expect(aborted).rejects.toThrow();
  const held = await startWait(id, '?wait=20');
  expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
  expectOk((await held.ended).answer, { status: 'approved' });
});
