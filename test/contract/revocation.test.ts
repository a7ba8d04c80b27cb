import { afterAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  type Actor,
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

async function revoke(of: { keyId: string }, query = ''): Promise<void> {
  expect((await service.operator.delete(`/v1/keys/${of.keyId}${query}`)).status).toBe(204);
}

const approve = (by: Actor, id: string) => by.client.post(`/v1/approvals/${id}/approve`);

describe('an approver’s revoked key', () => {
  test('drops its votes on pending approvals: version + 1, the place is open again', async () => {
    const leaver = await newApprover(service, ['finance']);
    const id = await ask(service.agent, refund(200_000));
    expectOk(await approve(leaver, id), { status: 'pending' });
    await revoke(leaver);
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 2, votes: [] });
    expectOk(await service.approver2.post(`/v1/approvals/${id}/approve`), { status: 'pending', version: 2 });
    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`), { status: 'approved', version: 2 });
  });

  test('leaves a pending approval without its vote alone', async () => {
    const leaver = await newApprover(service, ['finance']);
    const id = await ask(service.agent, refund(200_000));
    await revoke(leaver);
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 1 });
  });

  test.each([
    ['one vote', 9000],
    ['two votes', 200_000],
  ])('voids approved, unconsumed approvals that needed it: %s', async (_votes, amount) => {
    const leaver = await newApprover(service, ['security']);
    const id = await ask(service.agent, refund(amount));
    if (amount > 100_000) expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
    expectOk(await approve(leaver, id), { status: 'approved' });
    await revoke(leaver);
    expect(await readApproval(service.agent, id)).toMatchObject({
      status: 'voided',
      void_reason: 'key_revoked',
    });
    expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`), 409, 'approval_voided', {
      approval_status: 'voided',
      void_reason: 'key_revoked',
    });
  });

  test('changes nothing that is consumed, rejected or expired', async () => {
    const leaver = await newApprover(service);
    const consumed = await askApproved(service.agent, leaver.client);
    expectOk(await service.agent.post(`/v1/approvals/${consumed}/consume`));
    const rejected = await ask(service.agent);
    expectOk(await leaver.client.post(`/v1/approvals/${rejected}/reject`));
    const expired = await askApproved(service.agent, leaver.client);
    await service.sql`update approvals set created_at = created_at - interval '1 day',
      expires_at = clock_timestamp() where approval_id = ${uuidOf(expired)}`;
    await revoke(leaver);
    expect((await readApproval(service.agent, consumed)).status).toBe('consumed');
    expect((await readApproval(service.agent, rejected)).status).toBe('rejected');
    expect((await readApproval(service.agent, expired)).status).toBe('expired');
    expectOk(await service.agent.post(`/v1/approvals/${consumed}/outcome`, { outcome: 'executed' }));
  });

  test('reason=rotated keeps its votes and what rests on them', async () => {
    const approver = await newApprover(service, ['finance']);
    const pending = await ask(service.agent, refund(200_000));
    expectOk(await approve(approver, pending), { status: 'pending' });
    const approved = await askApproved(service.agent, approver.client);
    await revoke(approver, '?reason=rotated');
    expect(await readApproval(service.agent, pending)).toMatchObject({
      status: 'pending',
      version: 1,
      votes: [{ approver: approver.principal }],
    });
    expectOk(await service.approver2.post(`/v1/approvals/${pending}/approve`), { status: 'approved' });
    expectOk(await service.agent.post(`/v1/approvals/${approved}/consume`), { status: 'consumed' });
    expectProblem(await approver.client.get('/v1/me'), 401, 'unauthenticated');
  });

  test('rotated first and revoked for another reason later, its votes are dropped then', async () => {
    const approver = await newApprover(service);
    const id = await askApproved(service.agent, approver.client);
    await revoke(approver, '?reason=rotated');
    await revoke(approver, '?reason=lost');
    expect((await readApproval(service.agent, id)).status).toBe('voided');
    const { body } = await service.operator.get('/v1/keys');
    const key = body.items.find((item: { id: string }) => item.id === approver.keyId);
    expect(key.revoke_reason).toBe('lost');
  });

  test('any other reason does not', async () => {
    for (const query of ['?reason=Rotated', '?reason=rotated%20away', '']) {
      const approver = await newApprover(service);
      const id = await askApproved(service.agent, approver.client);
      await revoke(approver, query);
      expect((await readApproval(service.agent, id)).status).toBe('voided');
    }
  });

  test('only that key’s votes: another key of the principal keeps its own', async () => {
    const approver = await newApprover(service);
    const second = await makeKey(service.operator, { principal: approver.principal, roles: ['approver'] });
    const byFirst = await askApproved(service.agent, approver.client);
    const bySecond = await askApproved(service.agent, service.as(second.token));
    await revoke(approver);
    expect((await readApproval(service.agent, byFirst)).status).toBe('voided');
    expect((await readApproval(service.agent, bySecond)).status).toBe('approved');
  });

  test('whose vote was dropped, the principal may vote again with another key', async () => {
    const approver = await newApprover(service, ['finance']);
    const second = await makeKey(service.operator, { principal: approver.principal, roles: ['approver'] });
    const id = await ask(service.agent, refund(200_000));
    expectOk(await approve(approver, id), { status: 'pending' });
    await revoke(approver);
    expectOk(await service.as(second.token).post(`/v1/approvals/${id}/approve`), {
      status: 'pending',
      version: 2,
      votes: [{ approver: approver.principal }],
    });
  });

  test('a vote that an edit had dropped already moves no version', async () => {
    const leaver = await newApprover(service, ['finance']);
    const id = await ask(service.agent, refund(200_000));
    expectOk(await approve(leaver, id));
    const { tool_call } = await readApproval(service.agent, id);
    const edited = { ...tool_call, parameters: { ...tool_call.parameters, amount: 150_000 } };
    expectOk(await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited }), { version: 2 });
    await revoke(leaver);
    expect(await readApproval(service.agent, id)).toMatchObject({ status: 'pending', version: 2 });
  });
});

describe('an agent’s revoked key', () => {
  test('the last one voids what is pending and what is approved', async () => {
    const agent = await newAgent(service);
    const pending = await ask(agent.client);
    const approved = await askApproved(agent.client, service.approver);
    const rejected = await ask(agent.client);
    expectOk(await service.approver.post(`/v1/approvals/${rejected}/reject`));
    await revoke(agent);
    for (const id of [pending, approved]) {
      expect(await readApproval(service.approver, id)).toMatchObject({
        status: 'voided',
        void_reason: 'key_revoked',
      });
    }
    expect((await readApproval(service.approver, rejected)).status).toBe('rejected');
    expectProblem(await service.approver.post(`/v1/approvals/${pending}/approve`), 409, 'approval_voided', {
      void_reason: 'key_revoked',
    });
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectProblem(await service.as(token).post(`/v1/approvals/${approved}/consume`), 409, 'approval_voided');
  });

  test('with another standing key of the principal nothing is voided, and that key consumes', async () => {
    const agent = await newAgent(service);
    const { token, id: keyId } = await makeKey(service.operator, {
      principal: agent.principal,
      roles: ['agent'],
    });
    const pending = await ask(agent.client);
    const approved = await askApproved(agent.client, service.approver);
    await revoke(agent);
    expectProblem(await agent.client.post(`/v1/approvals/${approved}/consume`), 401, 'unauthenticated');
    expect((await readApproval(service.approver, pending)).status).toBe('pending');
    expectOk(await service.as(token).post(`/v1/approvals/${approved}/consume`), { status: 'consumed' });
    await revoke({ keyId });
    expect((await readApproval(service.approver, pending)).status).toBe('voided');
  });

  test('rotated as the last one it voids all the same: nobody could go on', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client);
    await revoke(agent, '?reason=rotated');
    expect((await readApproval(service.approver, id)).status).toBe('voided');
  });

  test('an expired key is no standing key, nor one with other roles', async () => {
    const agent = await newAgent(service);
    const other = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    await makeKey(service.operator, { principal: agent.principal, roles: ['auditor'] });
    await service.sql`update keys set expires_at = clock_timestamp() where key_id = ${uuidOf(other.id)}`;
    const id = await ask(agent.client);
    await revoke(agent);
    expect((await readApproval(service.approver, id)).status).toBe('voided');
  });
});

describe('expiring does not count', () => {
  test('an approver’s expired key leaves its votes', async () => {
    const approver = await newApprover(service, ['finance']);
    const pending = await ask(service.agent, refund(200_000));
    expectOk(await approve(approver, pending));
    const approved = await askApproved(service.agent, approver.client);
    await service.sql`update keys set expires_at = clock_timestamp() where key_id = ${uuidOf(approver.keyId)}`;
    expect(await readApproval(service.agent, pending)).toMatchObject({ version: 1, votes: [{}] });
    expectOk(await service.agent.post(`/v1/approvals/${approved}/consume`), { status: 'consumed' });
  });

  test('an agent’s expired key leaves its approvals', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    await service.sql`update keys set expires_at = clock_timestamp() where key_id = ${uuidOf(agent.keyId)}`;
    expectProblem(await agent.client.post(`/v1/approvals/${id}/consume`), 401, 'unauthenticated');
    expect((await readApproval(service.approver, id)).status).toBe('approved');
  });
});

test('a frozen agent neither asks, reads nor consumes, and spends nothing', async () => {
  const agent = await newAgent(service);
  const id = await askApproved(agent.client, service.approver);
  await service.sql`update keys set frozen_at = clock_timestamp() where key_id = ${uuidOf(agent.keyId)}`;
  const calls = [
    agent.client.post('/v1/authorize', { tool_call: refund(1) }),
    agent.client.get(`/v1/approvals/${id}`),
    agent.client.post(`/v1/approvals/${id}/consume`),
  ];
  for (const answer of await Promise.all(calls)) expectProblem(answer, 403, 'agent_frozen');
  expect((await readApproval(service.approver, id)).status).toBe('approved');
});
