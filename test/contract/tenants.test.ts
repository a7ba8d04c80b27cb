import { afterAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, UNKNOWN_APPROVAL, UNKNOWN_KEY, withoutRequestId } from './support.ts';

const BOOTSTRAP = 'bootstrap-operator-key-of-more-than-32-characters';
const service = await startTestService({ env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: BOOTSTRAP } });
afterAll(() => service.close());

const platform = service.as(BOOTSTRAP);

interface Tenant {
  operator: ReturnType<TestService['as']>;
  agent: ReturnType<TestService['as']>;
  approver: ReturnType<TestService['as']>;
  agentKeyId: string;
}

/** A tenant’s people under names that other tenants use as well. */
async function people(operator: Tenant['operator']): Promise<Tenant> {
  const agent = await makeKey(operator, { principal: 'agent-1', roles: ['agent'] });
  const approver = await makeKey(operator, {
    principal: 'approver-1',
    roles: ['approver'],
    groups: ['finance'],
  });
  return {
    operator,
    agent: service.as(agent.token),
    approver: service.as(approver.token),
    agentKeyId: agent.id,
  };
}

async function newTenant(tenantId: string): Promise<Tenant> {
  const made = await platform.post('/v1/tenants', { tenant_id: tenantId });
  return people(service.as(made.body.operator_key.key));
}

describe('POST /v1/tenants', () => {
  test('makes a tenant with its first operator key', async () => {
    const answer = await platform.post('/v1/tenants', { tenant_id: 'acme-1' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      tenant_id: 'acme-1',
      operator_key: {
        id: expect.stringMatching(/^key_/),
        key: expect.stringMatching(/^aeg_key_[0-9a-f-]{36}_[0-9A-Za-z]{43,}$/),
      },
    });
    const me = await service.as(answer.body.operator_key.key).get('/v1/me');
    expectOk(me, { tenant_id: 'acme-1', roles: ['operator'], key_id: answer.body.operator_key.id });
  });

  test('a taken id is 409, also when asked for twice at once', async () => {
    const create = (tenant_id: string) => platform.post('/v1/tenants', { tenant_id });
    expectProblem(await create('default'), 409, 'tenant_exists');
    const answers = await Promise.all([create('twice'), create('twice'), create('twice')]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409]);
  });

  test.each(['', 'A', 'a_b', 'a b', 'é', 'a'.repeat(64), 7, null, undefined])(
    '%j is 422',
    async (tenant_id) => {
      expectProblem(await platform.post('/v1/tenants', { tenant_id }), 422, 'invalid_request');
    },
  );

  test('63 characters are not too many', async () => {
    expect((await platform.post('/v1/tenants', { tenant_id: 'a'.repeat(63) })).status).toBe(201);
  });

  test('takes the role platform: a tenant’s operator has none', async () => {
    const { operator } = await newTenant('plain');
    expectProblem(await operator.post('/v1/tenants', { tenant_id: 'more' }), 403, 'forbidden');
  });
});

describe('TENANT WALL over HTTP', () => {
  test('two tenants with the same names see and move nothing of each other', async () => {
    const [one, two] = [await people(platform), await newTenant('wall')];
    const toolCall = refund(9000);
    const pending = await ask(one.agent, toolCall);
    const approved = await askApproved(one.agent, one.approver, toolCall);
    const consumed = await askApproved(one.agent, one.approver, toolCall);
    expectOk(await one.agent.post(`/v1/approvals/${consumed}/consume`));

    for (const id of [pending, approved, consumed]) {
      const path = `/v1/approvals/${id}`;
      const { tool_call } = (await one.agent.get(path)).body;
      const foreign: (() => Promise<ApiAnswer>)[] = [
        () => two.approver.get(path),
        () => two.operator.get(`${path}?wait=5`),
        () => two.agent.get(path),
        () => two.approver.post(`${path}/approve`),
        () => two.approver.post(`${path}/reject`),
        () => two.approver.post(`${path}/edit`, { tool_call }),
        () => two.operator.post(`${path}/cancel`),
        () => two.agent.post(`${path}/cancel`),
        () => two.agent.post(`${path}/consume`),
        () => two.agent.post(`${path}/outcome`, { outcome: 'executed' }),
      ];
      const missing = withoutRequestId(await two.approver.get(`/v1/approvals/${UNKNOWN_APPROVAL}`));
      for (const call of foreign) {
        const answer = await call();
        expectProblem(answer, 404, 'not_found');
        expect(withoutRequestId(answer)).toBe(missing);
      }
    }
    for (const client of [two.approver, two.operator, two.agent]) {
      for (const query of ['', '?status=pending', '?agent=agent-1', `?cursor=${consumed}`]) {
        expectOk(await client.get(`/v1/approvals${query}`), { items: [], next_cursor: null });
      }
    }
    expectOk(await one.agent.get(`/v1/approvals/${pending}`), { status: 'pending', votes: [] });
    expectOk(await one.agent.post(`/v1/approvals/${approved}/consume`));
  });

  test('nor keys', async () => {
    const [one, two] = [await people(platform), await newTenant('wall-keys')];
    const { body } = await two.operator.get('/v1/keys');
    expect(body.items).toHaveLength(3);
    const foreign = await two.operator.delete(`/v1/keys/${one.agentKeyId}`);
    const missing = await two.operator.delete(`/v1/keys/${UNKNOWN_KEY}`);
    expectProblem(foreign, 404, 'not_found');
    expect(withoutRequestId(foreign)).toBe(withoutRequestId(missing));
    expectOk(await one.agent.get('/v1/me'));
  });

  test('the platform’s own key has no access to a tenant it made', async () => {
    const tenant = await newTenant('own');
    const id = await ask(tenant.agent);
    expectProblem(await platform.get(`/v1/approvals/${id}`), 404, 'not_found');
    expectProblem(await platform.post(`/v1/approvals/${id}/cancel`), 404, 'not_found');
    expectProblem(await platform.delete(`/v1/keys/${tenant.agentKeyId}`), 404, 'not_found');
  });

  test('groups, recent consumes and idempotency keys are each tenant’s own', async () => {
    const [one, two] = [await newTenant('own-one'), await newTenant('own-two')];
    expectOk(await one.approver.get('/v1/me'), { groups: ['finance'] });
    await makeKey(one.operator, { principal: 'approver-1', roles: ['auditor'], groups: ['security'] });
    expectOk(await two.approver.get('/v1/me'), { groups: ['finance'] });

    const toolCall = refund(9000);
    const used = await askApproved(one.agent, one.approver, toolCall);
    expectOk(await one.agent.post(`/v1/approvals/${used}/consume`));
    const id = await ask(two.agent, toolCall);
    expectOk(await two.agent.get(`/v1/approvals/${id}`), { recent: [] });

    const headers = { 'idempotency-key': 'the-same' };
    const body = { tool_call: toolCall };
    const first = await one.agent.post('/v1/authorize', body, { headers });
    const second = await two.agent.post('/v1/authorize', body, { headers });
    expect(second.headers.get('idempotency-replayed')).toBe(null);
    expect(second.body.decision_id).not.toBe(first.body.decision_id);
  });

  test('the last operator key is counted for each tenant', async () => {
    const tenant = await newTenant('last');
    const { body: me } = await tenant.operator.get('/v1/me');
    expectProblem(await tenant.operator.delete(`/v1/keys/${me.key_id}`), 409, 'last_operator_key');
  });

  test('a new tenant decides by the starter set', async () => {
    const tenant = await newTenant('starter');
    expectOk(await authorize(tenant.agent, refund(1)), { decision: 'allow' });
    expectOk(await authorize(tenant.agent, refund(9000)), { decision: 'require_approval' });
  });
});
