import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund, TRUSTED } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newAgent, newName, ROOMY, readApproval } from './support.ts';

const service = await startTestService({ env: ROOMY });
const elsewhere = await startTestService({ databaseUrl: service.databaseUrl, env: ROOMY });
afterAll(async () => {
  await elsewhere.close();
  await service.close();
});

const freeze = (agent: string) => service.operator.post(`/v1/agents/${agent}/freeze`);
const unfreeze = (agent: string) => service.operator.post(`/v1/agents/${agent}/unfreeze`);

const everyCall = (client: ApiClient, approvalId: string) =>
  Promise.all([
    client.get('/v1/me'),
    authorize(client, refund(1)),
    authorize(client, refund(9000), { dry_run: true }),
    client.get('/v1/approvals'),
    client.get(`/v1/approvals/${approvalId}`),
    client.post(`/v1/approvals/${approvalId}/consume`),
    client.post(`/v1/approvals/${approvalId}/cancel`),
    client.post(`/v1/approvals/${approvalId}/outcome`, { outcome: 'executed' }),
  ]);

test.each([
  ['that is no json', '{bad', 400, 'invalid_json'],
  ['with members', '{"x":1}', 422, 'invalid_request'],
  ['that is no object', '[]', 422, 'invalid_request'],
])('a body %s is refused where none is taken, and nothing happens', async (_, rawBody, status, code) => {
  const agent = await newAgent(service);

  const answer = await service.operator.post(`/v1/agents/${agent.principal}/freeze`, undefined, { rawBody });

  expectProblem(answer, status, code);
  expectOk(await agent.client.get('/v1/me'));
});

describe('a frozen agent', () => {
  test('is refused on every call, on every process, until it is unfrozen', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    expect((await freeze(agent.principal)).status).toBe(204);
    for (const client of [agent.client, elsewhere.as(agent.token)]) {
      for (const answer of await everyCall(client, id)) expectProblem(answer, 403, 'agent_frozen');
    }
    expect((await unfreeze(agent.principal)).status).toBe(204);
    for (const client of [agent.client, elsewhere.as(agent.token)]) {
      expectOk(await authorize(client, refund(1)), { decision: 'allow' });
    }
  });

  test('is told so before its body, its path’s id and its role are looked at', async () => {
    const agent = await newAgent(service);
    await freeze(agent.principal);
    expectProblem(await agent.client.get('/v1/keys'), 403, 'agent_frozen');
    expectProblem(await agent.client.get('/v1/approvals/none'), 403, 'agent_frozen');
    const answer = await agent.client.post('/v1/authorize', undefined, { rawBody: '{' });
    expectProblem(answer, 403, 'agent_frozen');
  });

  test('has its pending and approved approvals voided, and keeps what is done', async () => {
    const agent = await newAgent(service);
    const consumed = await askApproved(agent.client, service.approver);
    expectOk(await agent.client.post(`/v1/approvals/${consumed}/consume`));
    const rejected = await ask(agent.client);
    expectOk(await service.approver.post(`/v1/approvals/${rejected}/reject`));
    const open = [await ask(agent.client), await askApproved(agent.client, service.approver)];
    await freeze(agent.principal);
    for (const id of open) {
      expect(await readApproval(service.approver, id)).toMatchObject({
        status: 'voided',
        void_reason: 'agent_frozen',
      });
      expectProblem(await service.approver.post(`/v1/approvals/${id}/approve`), 409, 'approval_voided', {
        approval_status: 'voided',
        void_reason: 'agent_frozen',
      });
    }
    expect((await readApproval(service.approver, consumed)).status).toBe('consumed');
    expect((await readApproval(service.approver, rejected)).status).toBe('rejected');
  });

  test('does not get its approvals back when it is unfrozen', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    await freeze(agent.principal);
    await unfreeze(agent.principal);
    expectProblem(await agent.client.post(`/v1/approvals/${id}/consume`), 409, 'approval_voided', {
      void_reason: 'agent_frozen',
    });
    expectOk(
      await askApproved(agent.client, service.approver).then((next) =>
        agent.client.post(`/v1/approvals/${next}/consume`),
      ),
    );
  });

  test.each([
    ['allow', refund(1)],
    ['require_approval', refund(9000)],
  ])('gets no answer replayed under an idempotency key: %s', async (decision, toolCall) => {
    const agent = await newAgent(service);
    const body = { tool_call: toolCall, context: TRUSTED };
    const options = { headers: { 'idempotency-key': randomUUID() } };
    expectOk(await agent.client.post('/v1/authorize', body, options), { decision });
    await freeze(agent.principal);
    for (const client of [agent.client, elsewhere.as(agent.token)]) {
      expectProblem(await client.post('/v1/authorize', body, options), 403, 'agent_frozen');
    }
  });

  test('gets no consume replayed to its token', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    const body = { consumer_token: randomUUID() };
    expectOk(await agent.client.post(`/v1/approvals/${id}/consume`, body), { replayed: false });
    await freeze(agent.principal);
    expectProblem(await agent.client.post(`/v1/approvals/${id}/consume`, body), 403, 'agent_frozen');
  });

  test('is not freed by a new key: one made while it is frozen is frozen', async () => {
    const agent = await newAgent(service);
    await freeze(agent.principal);
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectProblem(await authorize(service.as(token), refund(1)), 403, 'agent_frozen');
    await unfreeze(agent.principal);
    expectOk(await authorize(service.as(token), refund(1)), { decision: 'allow' });
  });

  test('ends the waits on its approvals at once, for approver and agent, on every process', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const startedAt = Date.now();
    const waits = [
      service.approver.get(`/v1/approvals/${id}?wait=20`),
      elsewhere.as(service.tokens.APPROVER).get(`/v1/approvals/${id}?wait=20`),
    ];
    const own = elsewhere.as(agent.token).get(`/v1/approvals/${id}?wait=20`);
    await freeze(agent.principal);
    for (const wait of waits) expectOk(await wait, { status: 'voided', void_reason: 'agent_frozen' });
    expectProblem(await own, 403, 'agent_frozen');
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  });

  test('loses its grants for good', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    await service.approver.post(`/v1/approvals/${id}/approve`);
    await service.sql`
      insert into grants (tenant_id, grant_id, agent, editors, fingerprint, action_hash, scope, policy_revision,
        policy_revisions, tool_facts_hash, source_trust, contains_sensitive_data, granted_by, approval_id, expires_at)
      select tenant_id, ${randomUUID()}, agent, '{}', 'f', action_hash, 'session', policy_revision, policy_revisions,
        tool_facts_hash, 'trusted_internal', false, 'approver-1', approval_id, clock_timestamp() + interval '1 hour'
      from approvals where agent = ${agent.principal}`;
    await freeze(agent.principal);
    await unfreeze(agent.principal);
    const rows = await service.sql`
      select revoked_at is not null as revoked, revoked_by from grants where agent = ${agent.principal}`;
    expect([...rows]).toStrictEqual([{ revoked: true, revoked_by: 'operator-1' }]);
  });

  test('leaves every other agent alone', async () => {
    const [agent, other] = [await newAgent(service), await newAgent(service)];
    const id = await askApproved(other.client, service.approver);
    await freeze(agent.principal);
    expectOk(await other.client.post(`/v1/approvals/${id}/consume`), { status: 'consumed' });
  });
});

describe('freezing', () => {
  test('twice, and lifting it twice, is done once', async () => {
    const agent = await newAgent(service);
    for (const call of [freeze, freeze, unfreeze, unfreeze]) {
      expect((await call(agent.principal)).status).toBe(204);
    }
    expectOk(await agent.client.get('/v1/me'));
  });

  test('names the agent in any case', async () => {
    const agent = await newAgent(service);
    expect((await freeze(agent.principal.toUpperCase())).status).toBe(204);
    expectProblem(await agent.client.get('/v1/me'), 403, 'agent_frozen');
  });

  test('an agent that is not known is 404, and so is what can be none', async () => {
    for (const agent of [newName('nobody'), 'a%20b', '%00', 'x'.repeat(129)]) {
      expectProblem(await freeze(agent), 404, 'not_found');
      expectProblem(await unfreeze(agent), 404, 'not_found');
    }
  });

  test("another tenant's agent is 404, and stays as it is", async () => {
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: 'theirs' });
    const theirs = service.as(made.body.operator_key.key);
    const agent = await newAgent(service);
    expectProblem(await theirs.post(`/v1/agents/${agent.principal}/freeze`), 404, 'not_found');
    expectOk(await agent.client.get('/v1/me'));
  });

  test.each(['agent', 'approver'] as const)('is not for a key with the role %s', async (who) => {
    const agent = await newAgent(service);
    for (const call of ['freeze', 'unfreeze']) {
      expectProblem(await service[who].post(`/v1/agents/${agent.principal}/${call}`), 403, 'forbidden');
    }
    expectOk(await agent.client.get('/v1/me'));
  });

  test('the principal with the last standing operator key is refused', async () => {
    expectProblem(await freeze('operator-1'), 409, 'last_operator_key');
    expectOk(await service.operator.get('/v1/me'));
  });
});
