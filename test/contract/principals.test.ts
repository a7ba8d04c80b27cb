import { afterAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  expectOk,
  expectProblem,
  newAgent,
  newApprover,
  newName,
  ROOMY,
  readApproval,
  withoutRequestId,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const put = (principal: string, body: object) =>
  service.operator.call('PUT', `/v1/principals/${principal}`, body);
const get = (principal: string) => service.operator.get(`/v1/principals/${principal}`);

const EVERYTHING = {
  groups: ['finance', 'security'],
  owner: 'approver-1',
  risk_tier: 'high',
  slack_user: 'U024BE7LH',
  oidc_subject: 'auth0|5f7c8ec7c33c6c004bbafe82',
  disabled: false,
};

describe('PUT /v1/principals/:id', () => {
  test('makes a principal, which is then read as it was put', async () => {
    const principal = newName('person');
    expectOk(await put(principal, EVERYTHING), { principal, ...EVERYTHING });
    expectOk(await get(principal), { principal, ...EVERYTHING });
  });

  test('replaces it: what is left out becomes null or false, but the owner stays until null is said', async () => {
    const principal = newName('person');
    const body = { ...EVERYTHING, slack_user: newName('U'), oidc_subject: newName('sub') };
    expectOk(await put(principal, body));
    const answer = await put(principal, { groups: [] });
    expect(answer.body).toStrictEqual({
      principal,
      groups: [],
      owner: 'approver-1',
      risk_tier: null,
      slack_user: null,
      oidc_subject: null,
      disabled: false,
    });
    expectOk(await put(principal, { groups: [], owner: null }), { owner: null });
  });

  test('sets groups that a key of the principal had added, and `me` shows it at once', async () => {
    const approver = await newApprover(service, ['finance']);
    expectOk(await put(approver.principal, { groups: ['b', 'a', 'b'] }), { groups: ['a', 'b'] });
    expectOk(await approver.client.get('/v1/me'), { groups: ['a', 'b'] });
  });

  test('names principals in lower case', async () => {
    const principal = newName('person');
    const answer = await put(principal.toUpperCase(), { groups: [], owner: 'Approver-1' });
    expectOk(answer, { principal, owner: 'approver-1' });
    expectOk(await get(principal.toUpperCase()), { principal });
  });

  test.each(['slack_user', 'oidc_subject'])('refuses a %s that is another principal’s', async (member) => {
    const [first, second] = [newName('person'), newName('person')];
    const value = newName('x');
    expectOk(await put(first, { groups: [], [member]: value }));
    const refused = await put(second, { groups: [], [member]: value });
    expectProblem(refused, 422, 'invalid_request', {
      errors: [{ pointer: `/${member}`, reason: expect.any(String) }],
    });
    expectProblem(await get(second), 404, 'not_found');
    expectOk(await put(first, { groups: [], [member]: value }));
    expectOk(await put(first, { groups: [] }));
    expectOk(await put(second, { groups: [], [member]: value }), { [member]: value });
  });

  test.each([
    ['no groups', {}, '/groups'],
    ['a group that can be none', { groups: ['a b'] }, '/groups/0'],
    ['an owner that can be no principal', { groups: [], owner: 'a b' }, '/owner'],
    ['an empty risk tier', { groups: [], risk_tier: '' }, '/risk_tier'],
    ['a risk tier of 65 characters', { groups: [], risk_tier: 'x'.repeat(65) }, '/risk_tier'],
    ['a bidi character', { groups: [], slack_user: 'U\u202e' }, '/slack_user'],
    ['a control character', { groups: [], oidc_subject: 'a\tb' }, '/oidc_subject'],
    ['a member that is not known', { groups: [], frozen: true }, '/frozen'],
    ['disabled as a text', { groups: [], disabled: 'yes' }, '/disabled'],
  ])('refuses %s', async (_what, body, pointer) => {
    const principal = newName('person');
    const answer = await put(principal, body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer);
    expectProblem(await get(principal), 404, 'not_found');
  });

  test.each(['a%20b', '%00', 'x'.repeat(129), 'caf%C3%A9', '%E2%80%AE'])(
    'answers what can be no principal by 404: %s',
    async (principal) => {
      expectProblem(await put(principal, { groups: [] }), 404, 'not_found');
      expectProblem(await get(principal), 404, 'not_found');
    },
  );
});

describe('GET /v1/principals/:id', () => {
  test('shows a principal that a key made', async () => {
    const agent = await newAgent(service, { groups: ['blue'], owner: 'approver-1' });
    expectOk(await get(agent.principal), {
      principal: agent.principal,
      groups: ['blue'],
      owner: 'approver-1',
      disabled: false,
    });
  });

  test("answers another tenant's principal as one that is not there", async () => {
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: newName('t').slice(0, 60) });
    const theirs = service.as(made.body.operator_key.key);
    const principal = newName('person');
    expectOk(await put(principal, { groups: [] }));
    const foreign = await theirs.get(`/v1/principals/${principal}`);
    const absent = await theirs.get(`/v1/principals/${newName('nobody')}`);
    expectProblem(foreign, 404, 'not_found');
    expect(withoutRequestId(foreign)).toBe(withoutRequestId(absent));
  });
});

test.each(['agent', 'approver'] as const)(
  'a key with the role %s neither reads nor writes principals',
  async (who) => {
    expectProblem(await service[who].get('/v1/principals/agent-1'), 403, 'forbidden');
    const answer = await service[who].call('PUT', '/v1/principals/agent-1', { groups: ['finance'] });
    expectProblem(answer, 403, 'forbidden');
  },
);

describe('a disabled principal', () => {
  test('is refused with every key it has, and with one made later, until it is enabled', async () => {
    const agent = await newAgent(service);
    const second = await makeKey(service.operator, { principal: agent.principal, roles: ['auditor'] });
    expectOk(await put(agent.principal, { groups: [], disabled: true }), { disabled: true });
    const third = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    const clients = [agent.client, service.as(second.token), service.as(third.token)];
    for (const client of clients) expectProblem(await client.get('/v1/me'), 401, 'unauthenticated');
    expectOk(await put(agent.principal, { groups: [] }), { disabled: false });
    for (const client of clients) expectOk(await client.get('/v1/me'));
  });

  test('stays disabled when a key of it is made', async () => {
    const principal = newName('agent');
    expectOk(await put(principal, { groups: [], disabled: true }));
    const { token } = await makeKey(service.operator, { principal, roles: ['agent'], groups: ['blue'] });
    expectProblem(await service.as(token).get('/v1/me'), 401, 'unauthenticated');
    expectOk(await get(principal), { disabled: true, groups: ['blue'] });
  });

  test('loses its votes on pending approvals: version + 1, and enabling gives none back', async () => {
    const leaver = await newApprover(service, ['finance']);
    const id = await ask(service.agent, refund(200_000));
    expectOk(await leaver.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    expectOk(await put(leaver.principal, { groups: ['finance'], disabled: true }));
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 2, votes: [] });
    expectOk(await put(leaver.principal, { groups: ['finance'] }));
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 2, votes: [] });
    expectOk(await leaver.client.post(`/v1/approvals/${id}/approve`), {
      version: 2,
      votes: [{ approver: leaver.principal }],
    });
  });

  test('voids what was approved with its vote, and leaves what is consumed', async () => {
    const leaver = await newApprover(service);
    const consumed = await askApproved(service.agent, leaver.client);
    expectOk(await service.agent.post(`/v1/approvals/${consumed}/consume`));
    const approved = await askApproved(service.agent, leaver.client);
    const others = await askApproved(service.agent, service.approver);
    expectOk(await put(leaver.principal, { groups: [], disabled: true }));
    expectProblem(await service.agent.post(`/v1/approvals/${approved}/consume`), 409, 'approval_voided', {
      void_reason: 'key_revoked',
    });
    expect((await readApproval(service.agent, consumed)).status).toBe('consumed');
    expectOk(await service.agent.post(`/v1/approvals/${others}/consume`), { status: 'consumed' });
  });

  test('of several keys with votes on one approval moves its version once', async () => {
    const leaver = await newApprover(service, ['finance']);
    const second = await makeKey(service.operator, { principal: leaver.principal, roles: ['approver'] });
    const ids = [await ask(service.agent, refund(200_000)), await ask(service.agent, refund(200_000))];
    expectOk(await leaver.client.post(`/v1/approvals/${ids[0]}/approve`));
    expectOk(await service.as(second.token).post(`/v1/approvals/${ids[1]}/approve`));
    expectOk(await put(leaver.principal, { groups: [], disabled: true }));
    for (const id of ids) {
      expect(await readApproval(service.agent, id)).toMatchObject({ version: 2, votes: [] });
    }
  });

  test('has what it asked for voided', async () => {
    const agent = await newAgent(service);
    const ids = [await ask(agent.client), await askApproved(agent.client, service.approver)];
    expectOk(await put(agent.principal, { groups: [], disabled: true }));
    for (const id of ids) {
      expect(await readApproval(service.approver, id)).toMatchObject({
        status: 'voided',
        void_reason: 'key_revoked',
      });
    }
  });

  test('is never the one with the last standing operator key of the tenant', async () => {
    const refused = await put('operator-1', { groups: [], disabled: true });
    expectProblem(refused, 409, 'last_operator_key');
    expectOk(await get('operator-1'), { disabled: false });
    const other = await makeKey(service.operator, { principal: 'operator-2', roles: ['operator'] });
    const otherClient = service.as(other.token);
    expectOk(await put('operator-1', { groups: [], disabled: true }));
    expectProblem(await service.operator.get('/v1/me'), 401, 'unauthenticated');
    const last = await otherClient.call('PUT', '/v1/principals/operator-2', { groups: [], disabled: true });
    expectProblem(last, 409, 'last_operator_key');
    expectOk(await otherClient.call('PUT', '/v1/principals/operator-1', { groups: [] }));
    expectOk(await service.operator.get('/v1/me'));
  });

  test('does not count as an operator left when the other one’s key is revoked', async () => {
    const principal = newName('operator');
    await makeKey(service.operator, { principal, roles: ['operator'] });
    const { body } = await service.operator.get('/v1/me');
    for (const other of ['operator-2', principal]) await put(other, { groups: [], disabled: true });
    const refused = await service.operator.delete(`/v1/keys/${body.key_id}`);
    expectProblem(refused, 409, 'last_operator_key');
  });
});
