import { afterAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, authorize, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  type Actor,
  expectOk,
  expectProblem,
  expire,
  newAgent,
  newApprover,
  newName,
  ROOMY,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const pathOf = (agent: string, session: string) =>
  `/v1/agents/${agent}/sessions/${encodeURIComponent(session)}`;
const put = (agent: string, session: string, body: object) =>
  service.operator.call('PUT', pathOf(agent, session), body);
const get = (agent: string, session: string) => service.operator.get(pathOf(agent, session));

/** Asks in a session and has it rejected; each time another action. */
async function reject(agent: ApiClient, session: string | null, reason = 'no'): Promise<void> {
  const id = await ask(agent, refund(9000), { session_id: session });
  expectOk(await service.approver.post(`/v1/approvals/${id}/reject`, { reason }), { status: 'rejected' });
}

async function rejectTimes(count: number, agent: ApiClient, session: string | null): Promise<void> {
  for (let time = 0; time < count; time += 1) await reject(agent, session);
}

const tryIn = (agent: ApiClient, session: string | null, amount = 9000) =>
  authorize(agent, refund(amount), { context: { session_id: session } });

/** The agent's principal with a key of the role `operator`. */
async function asOperator(agent: Actor): Promise<ApiClient> {
  const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['operator'] });
  return service.as(token);
}

const PAUSED = { decision: 'deny', denial: { by: 'pause' }, approval: null };
const ASKED = { decision: 'require_approval', denial: null };

describe('GET and PUT /v1/agents/:agent/sessions/:session_id', () => {
  test('a session that nothing is known of follows the tenant and has no rejections', async () => {
    const agent = await newAgent(service);
    const { body } = await get(agent.principal, 's-1');
    expect(body).toStrictEqual({
      agent: agent.principal,
      session_id: 's-1',
      tier: null,
      rejections: 0,
      paused_at: null,
    });
  });

  test.each(['ask', 'auto', 'full', null])('a tier that was put is read: %s', async (tier) => {
    const agent = await newAgent(service);
    expectOk(await put(agent.principal, 's-1', { tier }), {
      agent: agent.principal,
      session_id: 's-1',
      tier,
    });
    expectOk(await get(agent.principal, 's-1'), { tier });
    expectOk(await put(agent.principal, 's-1', { tier: null }), { tier: null });
    expectOk(await get(agent.principal, 's-1'), { tier: null });
  });

  test('the session of another agent under the same id is another one', async () => {
    const [agent, other] = [await newAgent(service), await newAgent(service)];
    expectOk(await put(agent.principal, 's-1', { tier: 'full' }));
    expectOk(await get(other.principal, 's-1'), { tier: null });
  });

  test.each(['a/b', 'é', '%', '..%2f', 'x'.repeat(256), '漢字', "' or 1=1 --"])(
    'a session may be named %j',
    async (session) => {
      const agent = await newAgent(service);
      expectOk(await put(agent.principal, session, { tier: 'ask' }), { session_id: session });
      expectOk(await get(agent.principal, session), { session_id: session, tier: 'ask' });
    },
  );

  test.each(['\0', 'a\nb', '\u202e', 'x'.repeat(257)])(
    'what no call can name is 404: %j',
    async (session) => {
      const agent = await newAgent(service);
      expectProblem(await put(agent.principal, session, { tier: 'ask' }), 404, 'not_found');
      expectProblem(await get(agent.principal, session), 404, 'not_found');
      expectProblem(
        await service.operator.post(`${pathOf(agent.principal, session)}/resume`),
        404,
        'not_found',
      );
    },
  );

  test('the session of an agent that is no principal is 404, and is not made', async () => {
    const nobody = newName('nobody');
    expectProblem(await get(nobody, 's-1'), 404, 'not_found');
    expectProblem(await put(nobody, 's-1', { tier: 'ask' }), 404, 'not_found');
    expectProblem(await service.operator.post(`${pathOf(nobody, 's-1')}/resume`), 404, 'not_found');
    expectProblem(await service.operator.post(`/v1/agents/${nobody}/resume`), 404, 'not_found');
    const [rows] = await service.sql`select count(*)::int from sessions where agent = ${nobody}`;
    expect(rows?.count).toBe(0);
  });

  test.each([{}, { tier: 'none' }, { tier: 1 }, { tier: 'ask', paused_at: null }])(
    'PUT refuses %j',
    async (body) => {
      expectProblem(await put('agent-1', 's-1', body), 422, 'invalid_request');
    },
  );

  test.each(['agent', 'approver'] as const)('are not for a key with the role %s', async (who) => {
    const path = pathOf('agent-1', 's-1');
    expectProblem(await service[who].get(path), 403, 'forbidden');
    expectProblem(await service[who].call('PUT', path, { tier: 'full' }), 403, 'forbidden');
    expectProblem(await service[who].post(`${path}/resume`), 403, 'forbidden');
    expectProblem(await service[who].post('/v1/agents/agent-1/resume'), 403, 'forbidden');
  });
});

describe('three rejections in a session', () => {
  test('pause it: every ask in it is denied, two do not', async () => {
    const agent = await newAgent(service);
    await rejectTimes(2, agent.client, 's-1');
    expectOk(await get(agent.principal, 's-1'), { rejections: 2, paused_at: null });
    expectOk(await tryIn(agent.client, 's-1'), ASKED);
    await reject(agent.client, 's-1');
    expectOk(await get(agent.principal, 's-1'), { rejections: 3, paused_at: expect.any(String) });
    expectOk(await tryIn(agent.client, 's-1'), PAUSED);
    expectOk(await tryIn(agent.client, 's-1', 100), { decision: 'allow' });
  });

  test('pause that session alone: not the agent, not another session, not another agent’s of the same id', async () => {
    const [agent, other] = [await newAgent(service), await newAgent(service)];
    await rejectTimes(3, agent.client, 's-1');
    expectOk(await tryIn(agent.client, null), ASKED);
    expectOk(await tryIn(agent.client, 's-2'), ASKED);
    expectOk(await tryIn(other.client, 's-1'), ASKED);
    expectOk(await get(other.principal, 's-1'), { rejections: 0, paused_at: null });
    expectOk(await tryIn(agent.client, 's-1'), PAUSED);
  });

  test('spread over sessions, or in none, pause nothing', async () => {
    const agent = await newAgent(service);
    for (const session of ['s-1', 's-2', null, null]) await reject(agent.client, session);
    for (const session of ['s-1', 's-2', null]) expectOk(await tryIn(agent.client, session), ASKED);
  });

  test('are counted of people’s rejections alone: what was cancelled or has expired is none', async () => {
    const agent = await newAgent(service);
    const newAsk = () => ask(agent.client, refund(9000), { session_id: 's-1' });
    for (let time = 0; time < 3; time += 1) {
      expectOk(await agent.client.post(`/v1/approvals/${await newAsk()}/cancel`));
      await expire(service, await newAsk());
    }
    expectOk(await get(agent.principal, 's-1'), { rejections: 0, paused_at: null });
    expectOk(await tryIn(agent.client, 's-1'), ASKED);
  });

  test('deny what another process would ask as well', async () => {
    const elsewhere = await startTestService({ databaseUrl: service.databaseUrl, env: ROOMY });
    const agent = await newAgent(service);
    await rejectTimes(3, agent.client, 's-1');
    expectOk(await tryIn(elsewhere.as(agent.token), 's-1'), PAUSED);
    await elsewhere.close();
  });

  test('keep the tier that the session has', async () => {
    const agent = await newAgent(service);
    expectOk(await put(agent.principal, 's-1', { tier: 'ask' }));
    await rejectTimes(3, agent.client, 's-1');
    expectOk(await get(agent.principal, 's-1'), { tier: 'ask', rejections: 3 });
  });
});

describe('resuming a session', () => {
  const resume = (by: ApiClient, agent: Actor) => by.post(`${pathOf(agent.principal, 's-1')}/resume`);

  test('lifts its pause and counts anew', async () => {
    const agent = await newAgent(service);
    await rejectTimes(3, agent.client, 's-1');
    expectOk(await resume(service.operator, agent), {
      agent: agent.principal,
      session_id: 's-1',
      rejections: 0,
      paused_at: null,
    });
    expectOk(await tryIn(agent.client, 's-1'), ASKED);
    await rejectTimes(2, agent.client, 's-1');
    expectOk(await tryIn(agent.client, 's-1'), ASKED);
    await reject(agent.client, 's-1');
    expectOk(await tryIn(agent.client, 's-1'), PAUSED);
  });

  test('keeps each single denial', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const id = await ask(agent.client, toolCall, { session_id: 's-1' });
    await service.approver.post(`/v1/approvals/${id}/reject`);
    await rejectTimes(2, agent.client, 's-1');
    expectOk(await resume(service.operator, agent), { paused_at: null });
    expectOk(await authorize(agent.client, toolCall, { context: { session_id: 's-1' } }), {
      decision: 'deny',
      denial: { by: 'person' },
    });
  });

  test('is refused to the paused agent itself, though by an operator’s key, and nothing is lifted', async () => {
    const agent = await newAgent(service);
    await rejectTimes(3, agent.client, 's-1');
    expectProblem(await resume(await asOperator(agent), agent), 403, 'self_approval_forbidden');
    expectOk(await get(agent.principal, 's-1'), { rejections: 3, paused_at: expect.any(String) });
    expectOk(await tryIn(agent.client, 's-1'), PAUSED);
    expectOk(await resume(await asOperator(await newAgent(service)), agent), { paused_at: null });
  });

  test('is refused to the owner of the agent who is no operator', async () => {
    const owner = await newApprover(service);
    const agent = await newAgent(service, { owner: owner.principal });
    await rejectTimes(3, agent.client, 's-1');
    expectProblem(await resume(owner.client, agent), 403, 'forbidden');
    expectOk(await tryIn(agent.client, 's-1'), PAUSED);
  });

  test('that is not paused changes nothing but the count', async () => {
    const agent = await newAgent(service);
    expectOk(await resume(service.operator, agent), { rejections: 0, paused_at: null, tier: null });
    await reject(agent.client, 's-1');
    expectOk(await resume(service.operator, agent), { rejections: 0, paused_at: null });
  });
});

describe('twenty-five rejections of an agent within an hour', () => {
  const SESSIONS = Array.from({ length: 13 }, (_, index) => `s-${index}`);

  /** Rejects over so many sessions that none of them is paused. */
  async function rejectWidely(count: number, agent: ApiClient): Promise<void> {
    for (let time = 0; time < count; time += 1) await reject(agent, SESSIONS[time % SESSIONS.length] ?? null);
  }

  const moveBack = (agent: Actor, minutes: number) => service.sql`
    update denials set created_at = created_at - make_interval(mins => ${minutes}) where agent = ${agent.principal}`;

  test('pause it in every session and in none, and twenty-four do not', async () => {
    const agent = await newAgent(service);
    await rejectWidely(24, agent.client);
    expectOk(await tryIn(agent.client, 'fresh'), ASKED);
    await reject(agent.client, null);
    for (const session of ['fresh', 's-1', null]) expectOk(await tryIn(agent.client, session), PAUSED);
    expectOk(await tryIn(agent.client, null, 100), { decision: 'allow' });
    const second = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectOk(await tryIn(service.as(second.token), 'fresh'), PAUSED);
    expectOk(await tryIn((await newAgent(service)).client, 'fresh'), ASKED);
  });

  test('are not those of more than an hour', async () => {
    const agent = await newAgent(service);
    await rejectWidely(24, agent.client);
    await moveBack(agent, 61);
    await reject(agent.client, null);
    expectOk(await tryIn(agent.client, 'fresh'), ASKED);
  });

  test('hold until someone resumes it; those before count no more', async () => {
    const agent = await newAgent(service);
    await rejectWidely(25, agent.client);
    await moveBack(agent, 61);
    expectOk(await tryIn(agent.client, 'fresh'), PAUSED);
    const path = `/v1/agents/${agent.principal}/resume`;
    expectProblem(await (await asOperator(agent)).post(path), 403, 'self_approval_forbidden');
    expectOk(await tryIn(agent.client, 'fresh'), PAUSED);
    const resumed = await service.operator.post(path);
    expect(resumed.body).toStrictEqual({ agent: agent.principal, paused_at: null });
    await service.sql`update denials set created_at = created_at + interval '61 minutes'
      where agent = ${agent.principal}`;
    await reject(agent.client, 'fresh');
    expectOk(await tryIn(agent.client, 'fresh'), ASKED);
  });
});

describe('a name that paths cannot hold', () => {
  test.each(['.', '..'])(
    '`%s` is no session and no principal: a call for it would reach another',
    async (name) => {
      expectProblem(await tryIn(service.agent, name), 422, 'invalid_request', {
        errors: [{ pointer: '/context/session_id', reason: expect.stringContaining('`..`') }],
      });
      const made = await service.operator.post('/v1/keys', { principal: name, roles: ['agent'] });
      expectProblem(made, 422, 'invalid_request');
      const owned = { principal: newName('agent'), roles: ['agent'], owner: name };
      expectProblem(await service.operator.post('/v1/keys', owned), 422, 'invalid_request');
    },
  );

  test.each(['...', '.a', 'a..b'])('`%s` is one like any other', async (name) => {
    expect((await tryIn(service.agent, name)).body.decision).toBe('require_approval');
    expectOk(await get('agent-1', name), { session_id: name });
  });
});
