import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Revoking counts from its commit, on every process. Each process here has its own pool and its own listener.

let here: TestService;
let there: TestService;

beforeAll(async () => {
  here = await startTestService();
  there = await startTestService({ databaseUrl: here.databaseUrl });
});
afterAll(async () => {
  await there.close();
  await here.close();
});

const onThere = (token: string) => there.as(token);

async function revoke(keyId: string, query = ''): Promise<void> {
  const answer = await here.operator.delete(`/v1/keys/${keyId}${query}`);
  expect(answer.status).toBe(204);
}

const VOIDED = { status: 409, body: { code: 'approval_voided', void_reason: 'key_revoked' } };

describe('an approval that rests on a revoked approver', () => {
  test('is void on another process at once', async () => {
    const key = await makeKey(here.operator, { principal: 'approver-r', roles: ['approver'] });
    const id = await askApproved(here.agent, here.as(key.token));
    await revoke(key.id);
    expect(await onThere(here.tokens.AGENT).post(`/v1/approvals/${id}/consume`)).toMatchObject(VOIDED);
    const read = await onThere(here.tokens.APPROVER).get(`/v1/approvals/${id}`);
    expect(read.body).toMatchObject({ status: 'voided', void_reason: 'key_revoked', version: 1 });
  });

  test('loses the vote while pending, under a new version, and needs another in its place', async () => {
    const key = await makeKey(here.operator, {
      principal: 'finance-r',
      roles: ['approver'],
      groups: ['finance'],
    });
    const id = await ask(here.agent, refund(200_000));
    await here.as(key.token).post(`/v1/approvals/${id}/approve`);
    await revoke(key.id);
    const read = await onThere(here.tokens.APPROVER).get(`/v1/approvals/${id}`);
    expect(read.body).toMatchObject({ status: 'pending', version: 2, votes: [] });
    const security = await onThere(here.tokens.APPROVER2).post(`/v1/approvals/${id}/approve`);
    expect(security.body).toMatchObject({ status: 'pending', version: 2 });
    const finance = await onThere(here.tokens.APPROVER).post(`/v1/approvals/${id}/approve`);
    expect(finance.body.status).toBe('approved');
  });

  test('holds when the key was rotated', async () => {
    const key = await makeKey(here.operator, { principal: 'approver-rotated', roles: ['approver'] });
    const id = await askApproved(here.agent, here.as(key.token));
    await revoke(key.id, '?reason=rotated');
    expect((await onThere(here.tokens.AGENT).post(`/v1/approvals/${id}/consume`)).status).toBe(200);
  });

  test('stays consumed when it was consumed before', async () => {
    const key = await makeKey(here.operator, { principal: 'approver-late', roles: ['approver'] });
    const id = await askApproved(here.agent, here.as(key.token));
    await here.agent.post(`/v1/approvals/${id}/consume`);
    await revoke(key.id);
    expect((await onThere(here.tokens.APPROVER).get(`/v1/approvals/${id}`)).body.status).toBe('consumed');
  });
});

describe("a revoked agent's approvals", () => {
  test('are void on another process at once, pending and approved, with the last key', async () => {
    const [first, second] = [
      await makeKey(here.operator, { principal: 'agent-r', roles: ['agent'] }),
      await makeKey(here.operator, { principal: 'agent-r', roles: ['agent'] }),
    ];
    const pending = await ask(here.as(first.token));
    const approved = await askApproved(here.as(first.token), here.approver);
    const statuses = async (): Promise<string[]> => {
      const page = await onThere(here.tokens.APPROVER).get('/v1/approvals?agent=agent-r');
      return page.body.items.map(({ status }: { status: string }) => status);
    };
    await revoke(first.id);
    expect(await statuses()).toStrictEqual(['approved', 'pending']);
    await revoke(second.id);
    expect(await statuses()).toStrictEqual(['voided', 'voided']);
    const newKey = await makeKey(here.operator, { principal: 'agent-r', roles: ['agent'] });
    expect(await onThere(newKey.token).post(`/v1/approvals/${approved}/consume`)).toMatchObject(VOIDED);
    const vote = await onThere(here.tokens.APPROVER).post(`/v1/approvals/${pending}/approve`);
    expect(vote).toMatchObject(VOIDED);
  });

  test('are not consumed with a revoked key while another of its keys stands', async () => {
    const [first, second] = [
      await makeKey(here.operator, { principal: 'agent-two', roles: ['agent'] }),
      await makeKey(here.operator, { principal: 'agent-two', roles: ['agent'] }),
    ];
    const id = await askApproved(here.as(first.token), here.approver);
    await revoke(first.id);
    expect((await onThere(first.token).post(`/v1/approvals/${id}/consume`)).status).toBe(401);
    expect((await onThere(second.token).post(`/v1/approvals/${id}/consume`)).status).toBe(200);
  });
});

test('a revoked key is refused on another process from the commit on', async () => {
  const key = await makeKey(here.operator, { principal: 'reader-r', roles: ['auditor'] });
  const reader = onThere(key.token);
  expect((await reader.get('/v1/me')).status).toBe(200);
  await revoke(key.id);
  expect((await reader.get('/v1/me')).status).toBe(401);
});

test('an expired key voids nothing', async () => {
  const key = await makeKey(here.operator, { principal: 'approver-x', roles: ['approver'] });
  const id = await askApproved(here.agent, here.as(key.token));
  await here.sql`
    update keys set expires_at = clock_timestamp() - interval '1 second' where principal = 'approver-x'`;
  expect((await onThere(key.token).get('/v1/me')).status).toBe(401);
  expect((await onThere(here.tokens.AGENT).post(`/v1/approvals/${id}/consume`)).status).toBe(200);
});
