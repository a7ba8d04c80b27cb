import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { makeKey, refund, TRUSTED } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newAgent, newApprover, WRONG_HASH } from './support.ts';

const service = await startTestService();
afterAll(() => service.close());

const DAY_MS = 24 * 3600 * 1000;

function body(toolCall: object = refund(9000), more: object = {}) {
  return { tool_call: toolCall, context: TRUSTED, ...more };
}

function send(client: ApiClient, key: string, of: object | string) {
  const headers = { 'idempotency-key': key };
  return typeof of === 'string'
    ? client.post('/v1/authorize', undefined, { headers, rawBody: of })
    : client.post('/v1/authorize', of, { headers });
}

async function countApprovals(agent: Actor): Promise<number> {
  const { body: page } = await agent.client.get('/v1/approvals?limit=200');
  return page.items.length;
}

/** Writes the mark of a request in flight, as a process leaves it that died while it answered. */
async function putLease(agent: Actor, key: string, of: object, secondsLeft: number): Promise<void> {
  // The fingerprint and standing are those of a real first answer to the same body.
  expectOk(await send(agent.client, key, of));
  await service.sql`update idempotency_keys set answer = null, lease_id = ${randomUUID()},
    lease_until = clock_timestamp() + make_interval(secs => ${secondsLeft})
    where principal = ${agent.principal} and key = ${key}`;
}

describe('a repeat of the same request', () => {
  test.each([
    ['allow', refund(1)],
    ['deny', refund(0)],
    ['require_approval', refund(9000)],
  ])('%s: gets the first answer, marked as replayed', async (decision, toolCall) => {
    const agent = await newAgent(service);
    const key = randomUUID();
    const first = await send(agent.client, key, body(toolCall));
    const repeat = await send(agent.client, key, body(toolCall));
    expectOk(first, { decision });
    expect(first.headers.get('idempotency-replayed')).toBe(null);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(repeat.text).toBe(first.text);
    expect(await countApprovals(agent)).toBe(decision === 'require_approval' ? 1 : 0);
    const [stored] = await service.sql`select count(*)::int from decisions where agent = ${agent.principal}`;
    expect(stored?.count).toBe(1);
  });

  test('a dry run is replayed too', async () => {
    const key = randomUUID();
    const of = body(refund(9000), { dry_run: true });
    const first = await send(service.agent, key, of);
    const repeat = await send(service.agent, key, of);
    expectOk(first, { dry_run: true, approval: null });
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(repeat.text).toBe(first.text);
  });

  test('the first answer is replayed though the approval has moved on', async () => {
    const key = randomUUID();
    const of = body();
    const first = await send(service.agent, key, of);
    await service.approver.post(`/v1/approvals/${first.body.approval.approval_id}/reject`);
    expect((await send(service.agent, key, of)).text).toBe(first.text);
  });

  test('quoted and bare, a key is the same key', async () => {
    const key = randomUUID();
    const of = body();
    const bare = await send(service.agent, key, of);
    const quoted = await send(service.agent, `"${key}"`, of);
    expect(quoted.headers.get('idempotency-replayed')).toBe('true');
    expect(quoted.body.decision_id).toBe(bare.body.decision_id);
  });

  test('member order, spaces and number form do not make another body', async () => {
    const key = randomUUID();
    const first = await send(
      service.agent,
      key,
      '{"tool_call":{"tool":"stripe","action":"refund","mutates_state":true,"parameters":{"amount":100,"currency":"usd"}}}',
    );
    const repeat = await send(
      service.agent,
      key,
      '{ "tool_call": { "parameters": {"currency":"us\\u0064","amount":1e2}, "mutates_state":true,\n"action":"refund", "tool":"stripe" } }',
    );
    expectOk(repeat, { decision_id: first.body.decision_id });
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('another body under the key', () => {
  test.each([
    ['other parameters', { tool_call: { ...refund(9000), parameters: { amount: 9001, currency: 'usd' } } }],
    ['another context', { context: { ...TRUSTED, session_id: 'other' } }],
    ['a dry run', { dry_run: true }],
  ])('%s: 422, and nothing is decided', async (_what, change) => {
    const agent = await newAgent(service);
    const key = randomUUID();
    const first = body();
    await send(agent.client, key, first);
    expectProblem(await send(agent.client, key, { ...first, ...change }), 422, 'idempotency_key_reused');
    expect(await countApprovals(agent)).toBe(1);
  });
});

describe('while the first is being answered', () => {
  test('the same request is 409 with Retry-After', async () => {
    const agent = await newAgent(service);
    const of = body();
    await putLease(agent, 'in-flight', of, 60);
    const answer = await send(agent.client, 'in-flight', of);
    expectProblem(answer, 409, 'idempotency_in_flight');
    expectProblem(await send(agent.client, 'in-flight', body()), 422, 'idempotency_key_reused');
  });

  test('a lease that has run out is taken over, and the request decided anew', async () => {
    const agent = await newAgent(service);
    const of = body();
    await putLease(agent, 'abandoned', of, -1);
    const answer = await send(agent.client, 'abandoned', of);
    expectOk(answer, { decision: 'require_approval' });
    expect(answer.headers.get('idempotency-replayed')).toBe(null);
    expect(await countApprovals(agent)).toBe(2);
    const repeat = await send(agent.client, 'abandoned', of);
    expect(repeat.text).toBe(answer.text);
  });

  test('the lease is of 60 seconds', async () => {
    const agent = await newAgent(service);
    await send(agent.client, 'lease', body());
    const [row] = await service.sql`select extract(epoch from lease_until - clock_timestamp())::float as left
      from idempotency_keys where principal = ${agent.principal}`;
    expect(row?.left).toBeGreaterThan(50);
    expect(row?.left).toBeLessThanOrEqual(60);
  });

  test('20 at once make exactly one approval', async () => {
    const agent = await newAgent(service);
    const of = body();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(agent.client, 'together', of)));
    const decided = answers.filter((answer) => answer.status === 200);
    for (const answer of answers) {
      if (answer.status !== 200) expectProblem(answer, 409, 'idempotency_in_flight');
    }
    expect(new Set(decided.map((answer) => answer.text)).size).toBe(1);
    expect(await countApprovals(agent)).toBe(1);
  });
});

describe('a repeat after what the answer rested on has changed is decided anew under the same key', () => {
  async function expectDecidedAnew(agent: Actor, client: ApiClient, change: () => Promise<unknown>) {
    const of = body();
    const first = await send(agent.client, 'standing', of);
    expectOk(first);
    await change();
    const anew = await send(client, 'standing', of);
    expectOk(anew);
    expect(anew.headers.get('idempotency-replayed')).toBe(null);
    expect(anew.body.decision_id).not.toBe(first.body.decision_id);
    const repeat = await send(client, 'standing', of);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(repeat.text).toBe(anew.text);
    return anew;
  }

  test('the agent’s groups', async () => {
    const agent = await newAgent(service);
    await expectDecidedAnew(agent, agent.client, () =>
      makeKey(service.operator, { principal: agent.principal, roles: ['agent'], groups: ['contractors'] }),
    );
  });

  test('the agent’s owner', async () => {
    const agent = await newAgent(service);
    await expectDecidedAnew(agent, agent.client, () =>
      makeKey(service.operator, { principal: agent.principal, roles: ['agent'], owner: 'somebody-else' }),
    );
  });

  test('the limits of the key in use', async () => {
    const agent = await newAgent(service);
    const strict = await makeKey(service.operator, {
      principal: agent.principal,
      roles: ['agent'],
      unattended: true,
    });
    const anew = await expectDecidedAnew(agent, service.as(strict.token), async () => undefined);
    expectOk(anew, { decision: 'deny', denial: { by: 'unattended' } });
  });

  test('the active revision', async () => {
    const policyDir = mkdtempSync(join(tmpdir(), 'aegis-policies-'));
    cpSync('policies', policyDir, { recursive: true });
    const path = join(policyDir, 'crm.cedar');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('reading a customer is allowed', 'reading is allowed'),
    );
    const before = await startTestService();
    const of = body();
    const first = await send(before.agent, 'revision', of);
    const after = await startTestService({
      databaseUrl: before.databaseUrl,
      env: { AEGIS_POLICY_DIR: policyDir },
    });
    const anew = await send(after.as(before.tokens.AGENT), 'revision', of);
    await after.close();
    await before.close();
    rmSync(policyDir, { recursive: true });
    expectOk(anew, { decision: 'require_approval' });
    expect(anew.headers.get('idempotency-replayed')).toBe(null);
    expect(anew.body.policy_revision).not.toBe(first.body.policy_revision);
  });
});

describe('whose key it is', () => {
  test('other principals do not share it', async () => {
    const of = body();
    const first = await send((await newAgent(service)).client, 'shared', of);
    const second = await send((await newAgent(service)).client, 'shared', of);
    const third = await send((await newAgent(service)).client, 'shared', body());
    expectOk(second);
    expectOk(third);
    expect(second.headers.get('idempotency-replayed')).toBe(null);
    expect(second.body.decision_id).not.toBe(first.body.decision_id);
  });

  test('two keys of one principal do', async () => {
    const agent = await newAgent(service);
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    const of = body();
    const first = await send(agent.client, 'both', of);
    const repeat = await send(service.as(token), 'both', of);
    expect(repeat.headers.get('idempotency-replayed')).toBe('true');
    expect(repeat.text).toBe(first.text);
  });
});

test('a key is kept for 24 hours, then free again', async () => {
  const agent = await newAgent(service);
  await send(agent.client, 'old', body());
  const [row] =
    await service.sql`select expires_at from idempotency_keys where principal = ${agent.principal}`;
  expect(Math.abs(row?.expires_at.getTime() - Date.now() - DAY_MS)).toBeLessThan(60_000);
  await service.sql`update idempotency_keys set expires_at = clock_timestamp() where principal = ${agent.principal}`;
  const answer = await send(agent.client, 'old', body());
  expectOk(answer);
  expect(answer.headers.get('idempotency-replayed')).toBe(null);
});

describe('a first request that failed does not block the key', () => {
  test('one refused before it was decided', async () => {
    const agent = await newAgent(service);
    const wrong = body(refund(9000), { action_hash: WRONG_HASH });
    expectProblem(await send(agent.client, 'failed', wrong), 422, 'action_hash_mismatch');
    expectOk(await send(agent.client, 'failed', body()));
  });

  test('one that met a limit: the same body is decided once there is room', async () => {
    const agent = await newAgent(service);
    const ids: string[] = [];
    for (let count = 0; count < 50; count += 1) {
      const answer = await agent.client.post('/v1/authorize', body());
      ids.push(answer.body.approval.approval_id);
    }
    const of = body();
    expectProblem(await send(agent.client, 'limited', of), 429, 'too_many_pending');
    expectOk(await agent.client.post(`/v1/approvals/${ids[0]}/cancel`));
    const answer = await send(agent.client, 'limited', of);
    expectOk(answer, { decision: 'require_approval' });
    expect(answer.headers.get('idempotency-replayed')).toBe(null);
  });
});

describe('checks of the credential come before the replay', () => {
  test('a revoked key is 401, a frozen one 403', async () => {
    const agent = await newAgent(service);
    const of = body();
    expectOk(await send(agent.client, 'later', of));
    await service.sql`update keys set frozen_at = clock_timestamp() where principal = ${agent.principal}`;
    expectProblem(await send(agent.client, 'later', of), 403, 'agent_frozen');
    await service.operator.delete(`/v1/keys/${agent.keyId}`);
    expectProblem(await send(agent.client, 'later', of), 401, 'unauthenticated');
  });

  test('a role that may not ask is 403', async () => {
    const approver = await newApprover(service);
    expectProblem(await send(approver.client, 'role', body()), 403, 'forbidden');
  });
});

test.each([
  ['empty', ''],
  ['an empty string', '""'],
  ['257 characters', 'k'.repeat(257)],
  ['two bare words', 'a b'],
  ['a list', '"a", "b"'],
  ['a string not closed', '"a'],
])('a key that is %s is 422', async (_what, key) => {
  expectProblem(await send(service.agent, key, body(refund(1))), 422, 'invalid_request');
});

test('a key of 256 characters is one', async () => {
  expectOk(await send(service.agent, 'k'.repeat(256), body(refund(1))));
});
