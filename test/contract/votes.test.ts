import { afterAll, describe, expect, test } from 'vitest';
import { ask, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  type Actor,
  editedCall,
  expectOk,
  expectProblem,
  newActor,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  WRONG_HASH,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const finance = await newApprover(service, ['finance']);
const finance2 = await newApprover(service, ['finance']);
const security = await newApprover(service, ['security']);
const both = await newApprover(service, ['finance', 'security']);
const both2 = await newApprover(service, ['security', 'finance', 'other']);
const plain = await newApprover(service);

const askForTwo = () => ask(service.agent, refund(200_000));
const approve = (by: Actor, id: string, body?: object) => by.client.post(`/v1/approvals/${id}/approve`, body);

describe('two groups, one vote each', () => {
  test.each([
    ['finance, then security', [finance, security]],
    ['security, then finance', [security, finance]],
    ['a member of both, then finance', [both, finance]],
    ['a member of both, then security', [both, security]],
    ['finance, then a member of both', [finance, both]],
    ['two members of both', [both, both2]],
  ])('%s: pending after the first, approved after the second', async (_who, [first, second]) => {
    const id = await askForTwo();
    expectOk(await approve(first as Actor, id), { status: 'pending', decided_by: null, version: 1 });
    const answer = await approve(second as Actor, id, { reason: 'fine' });
    expectOk(answer, {
      status: 'approved',
      decided_by: second?.principal,
      decision_reason: 'fine',
      version: 1,
    });
    expect(answer.body.votes.map((vote: { approver: string }) => vote.approver)).toEqual([
      first?.principal,
      second?.principal,
    ]);
  });

  test('a member of both fills one place only', async () => {
    const id = await askForTwo();
    expectOk(await approve(both, id), { status: 'pending' });
    expectOk(await approve(both, id), { status: 'pending', votes: [{ approver: both.principal }] });
  });

  test('a vote that fills no open place is not eligible, and the detail says who could', async () => {
    const id = await askForTwo();
    expectProblem(await approve(plain, id), 403, 'approver_not_eligible', {
      detail: expect.stringMatching(/`finance`.*`security`/),
    });
    expectOk(await approve(finance, id), { status: 'pending' });
    const refused = await approve(finance2, id);
    expectProblem(refused, 403, 'approver_not_eligible', { detail: expect.stringMatching(/`security`/) });
    expect(refused.body.detail).not.toMatch(/finance/);
    expectProblem(await approve(plain, id), 403, 'approver_not_eligible');
    expect((await readApproval(service.approver, id)).votes).toHaveLength(1);
  });
});

test('a principal’s second vote on a version is 200 and changes nothing, with another key too', async () => {
  const id = await askForTwo();
  const first = await approve(finance, id, { reason: 'first' });
  const { token } = await makeKey(service.operator, { principal: finance.principal, roles: ['approver'] });
  for (const client of [finance.client, service.as(token)]) {
    const again = await client.post(`/v1/approvals/${id}/approve`, { reason: 'second' });
    expectOk(again);
    expect(again.body).toEqual(first.body);
  }
});

test('one vote without groups: any approver’s', async () => {
  const id = await ask(service.agent);
  expectOk(await approve(plain, id), { status: 'approved', decided_by: plain.principal });
});

test('a body may be absent, and no content type is needed then', async () => {
  const id = await ask(service.agent);
  const answer = await fetch(`${service.url}/v1/approvals/${id}/approve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.tokens.APPROVER}` },
  });
  expect(answer.status).toBe(200);
});

test('any approver may reject, one is enough, and votes before do not help', async () => {
  const id = await askForTwo();
  expectOk(await approve(finance, id), { status: 'pending' });
  expectOk(await plain.client.post(`/v1/approvals/${id}/reject`, { reason: 'too much' }), {
    status: 'rejected',
    decided_by: plain.principal,
    votes: [
      { approver: finance.principal, decision: 'approve' },
      { approver: plain.principal, decision: 'reject', reason: 'too much' },
    ],
  });
  expectProblem(await approve(security, id), 409, 'approval_already_decided', {
    approval_status: 'rejected',
  });
});

test('who approved may still reject while places are open: the later vote stands', async () => {
  const id = await askForTwo();
  expectOk(await approve(finance, id), { status: 'pending' });
  expectOk(await finance.client.post(`/v1/approvals/${id}/reject`, { reason: 'looked again' }), {
    status: 'rejected',
    decided_by: finance.principal,
    votes: [{ approver: finance.principal, decision: 'reject', reason: 'looked again' }],
  });
});

describe('NO SELF-APPROVAL', () => {
  const SELF = 'self_approval_forbidden';

  test('a key that is agent and approver does not approve what it asked, and still may reject it', async () => {
    const self = await newActor(service, ['agent', 'approver']);
    const id = await ask(self.client);
    expectProblem(await approve(self, id), 403, SELF, { detail: expect.stringMatching(/another|other/) });
    expectOk(await self.client.post(`/v1/approvals/${id}/reject`), { status: 'rejected' });
  });

  test('nor does an approver key of the agent’s principal, in any case', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const principal = agent.principal.toUpperCase();
    const { token } = await makeKey(service.operator, { principal, roles: ['approver'] });
    expectProblem(await service.as(token).post(`/v1/approvals/${id}/approve`), 403, SELF);
  });

  test('nor the owner named at the key', async () => {
    const agent = await newAgent(service, { owner: plain.principal.toUpperCase() });
    const id = await ask(agent.client);
    expect((await readApproval(plain.client, id)).owner).toBe(plain.principal);
    expectProblem(await approve(plain, id), 403, SELF);
    expectOk(await approve(finance, id), { status: 'approved' });
  });

  test('nor the maker of the key, where no owner is named', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    const { token } = await makeKey(service.operator, { principal: 'operator-1', roles: ['approver'] });
    expect((await readApproval(plain.client, id)).owner).toBe('operator-1');
    expectProblem(await service.as(token).post(`/v1/approvals/${id}/approve`), 403, SELF);
  });

  test('nor anyone who edited it, in any version and with any key', async () => {
    const id = await ask(service.agent);
    const edit = async (by: Actor, amount: number) =>
      by.client.post(`/v1/approvals/${id}/edit`, { tool_call: await editedCall(by.client, id, { amount }) });
    expectOk(await edit(finance, 8000), { version: 2 });
    expectOk(await edit(security, 7000), { version: 3 });
    const { token } = await makeKey(service.operator, { principal: finance.principal, roles: ['approver'] });
    const seen = { headers: { 'if-match': '"3"' } };
    for (const client of [finance.client, security.client, service.as(token)]) {
      expectProblem(await client.post(`/v1/approvals/${id}/approve`, {}, seen), 403, SELF);
    }
    expectOk(await plain.client.post(`/v1/approvals/${id}/approve`, {}, seen), { status: 'approved' });
  });

  test('an owner may reject and edit', async () => {
    const agent = await newAgent(service, { owner: plain.principal });
    const id = await ask(agent.client);
    const tool_call = await editedCall(plain.client, id, { amount: 8000 });
    expectOk(await plain.client.post(`/v1/approvals/${id}/edit`, { tool_call }));
    expectOk(await plain.client.post(`/v1/approvals/${id}/reject`), { status: 'rejected' });
  });
});

describe('what an approve may send', () => {
  test('the right hash, and no other', async () => {
    const id = await ask(service.agent);
    const { action_hash } = await readApproval(service.approver, id);
    expectProblem(await approve(plain, id, { action_hash: WRONG_HASH }), 409, 'action_hash_mismatch', {
      approval_status: 'pending',
    });
    expect((await readApproval(service.approver, id)).votes).toEqual([]);
    expectOk(await approve(plain, id, { action_hash, scope: 'once' }), { status: 'approved' });
  });

  test.each([
    { scope: 'run' },
    { scope: 'session' },
    { scope: 'window', window_seconds: 60 },
    { scope: 'allowlist' },
    { scope: 'always' },
    { window_seconds: 60 },
    { max_uses: 2 },
    { approver: 'somebody' },
    { reason: 7 },
    { reason: '' },
    { reason: 'x'.repeat(2001) },
    { reason: 'a\u202eb' },
    { action_hash: 'abc' },
  ])('%j is 422 and casts no vote', async (body) => {
    const id = await ask(service.agent);
    expectProblem(await approve(plain, id, body), 422, 'invalid_request');
    expect(await readApproval(service.approver, id)).toMatchObject({ status: 'pending', votes: [] });
  });
});

test('only approvers approve, reject and edit', async () => {
  const id = await ask(service.agent);
  const tool_call = await editedCall(service.approver, id, { amount: 8000 });
  for (const client of [service.agent, service.operator]) {
    for (const [call, body] of [['approve'], ['reject'], ['edit', { tool_call }]] as const) {
      expectProblem(await client.post(`/v1/approvals/${id}/${call}`, body), 403, 'forbidden');
    }
  }
});
