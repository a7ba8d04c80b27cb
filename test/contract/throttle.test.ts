import { afterAll, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  newActor,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
  WRONG_HASH,
  withoutRequestId,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const WINDOW_SECONDS = 3600;
const LIMIT = 5;

/** Asserts a 429 that says how long to wait, up to a window. */
function expectThrottled(answer: ApiAnswer): void {
  expectProblem(answer, 429, 'throttled');
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(WINDOW_SECONDS);
}

async function repeat(times: number, call: () => Promise<ApiAnswer>): Promise<ApiAnswer[]> {
  const answers: ApiAnswer[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await call());
  return answers;
}

const consume = (client: ApiClient, id: string, body?: object) =>
  client.post(`/v1/approvals/${id}/consume`, body);
const approve = (client: ApiClient, id: string, body?: object, options?: object) =>
  client.post(`/v1/approvals/${id}/approve`, body, options);
const STALE = { headers: { 'if-match': '"9"' } };

describe('after five failed attempts on an approval this credential gets 429', () => {
  async function edited(): Promise<{ id: string; editor: ApiClient }> {
    const id = await ask(service.agent);
    const editor = await newApprover(service);
    const tool_call = await editedCall(service.approver, id, { amount: 8000 });
    expectOk(await editor.client.post(`/v1/approvals/${id}/edit`, { tool_call }));
    return { id, editor: editor.client };
  }

  const ATTEMPTS: Record<string, () => Promise<{ call: () => Promise<ApiAnswer>; status: number }>> = {
    'a wrong hash on consume': async () => {
      const agent = await newAgent(service);
      const id = await askApproved(agent.client, service.approver);
      return { call: () => consume(agent.client, id, { action_hash: WRONG_HASH }), status: 409 };
    },
    'a wrong hash on approve': async () => {
      const id = await ask(service.agent);
      return { call: () => approve(service.approver, id, { action_hash: WRONG_HASH }), status: 409 };
    },
    'a wrong binding': async () => {
      const agent = await newAgent(service);
      const id = await askApproved(agent.client, service.approver);
      return { call: () => consume(agent.client, id, { binding: { workspace: 'x' } }), status: 409 };
    },
    'a stale version': async () => {
      const id = await ask(service.agent);
      return { call: () => approve(service.approver, id, {}, STALE), status: 412 };
    },
    'a 404 for what is not readable': async () => {
      const { client } = await newAgent(service);
      const id = await ask(service.agent);
      return { call: () => client.get(`/v1/approvals/${id}`), status: 404 };
    },
    'a 404 for what does not exist': async () => {
      const { client } = await newAgent(service);
      return { call: () => client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/cancel`), status: 404 };
    },
    'a 404 for what is no id': async () => {
      const { client } = await newApprover(service);
      return { call: () => client.get('/v1/approvals/no-id?wait=5'), status: 404 };
    },
    'an approval of one’s own edit': async () => {
      const { id, editor } = await edited();
      return { call: () => approve(editor, id, {}, { headers: { 'if-match': '"2"' } }), status: 403 };
    },
    'a vote that fills no place': async () => {
      const { client } = await newApprover(service);
      const id = await ask(service.agent, refund(200_000));
      return { call: () => approve(client, id), status: 403 };
    },
    'another’s consume by one who reads all': async () => {
      const { client } = await newActor(service, ['agent', 'auditor']);
      const id = await askApproved(service.agent, service.approver);
      return { call: () => consume(client, id), status: 403 };
    },
  };

  test.each(Object.keys(ATTEMPTS))('%s', async (kind) => {
    const { call, status } = await (ATTEMPTS[kind] as (typeof ATTEMPTS)[string])();
    for (const answer of await repeat(LIMIT, call)) expect(answer.status).toBe(status);
    for (const answer of await repeat(3, call)) expectThrottled(answer);
  });

  test('failures of several kinds and calls add up', async () => {
    const { client } = await newActor(service, ['agent', 'approver']);
    const id = await ask(service.agent);
    expectProblem(await approve(client, id, { action_hash: WRONG_HASH }), 409, 'action_hash_mismatch');
    expectProblem(await approve(client, id, {}, STALE), 412, 'stale_version');
    expectProblem(await client.post(`/v1/approvals/${id}/cancel`), 403, 'approver_not_eligible');
    expectProblem(await client.post(`/v1/approvals/${id}/reject`, {}, STALE), 412, 'stale_version');
    expectProblem(await approve(client, id, { action_hash: WRONG_HASH }), 409, 'action_hash_mismatch');
    for (const call of ['approve', 'reject', 'cancel', 'edit', 'consume', 'outcome']) {
      expectThrottled(await client.post(`/v1/approvals/${id}/${call}`));
    }
    expectThrottled(await client.get(`/v1/approvals/${id}`));
  });
});

describe('whom it holds for', () => {
  test('that credential only: another key of the same principal goes on', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    await repeat(LIMIT, () => consume(agent.client, id, { action_hash: WRONG_HASH }));
    expectThrottled(await consume(agent.client, id));
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectOk(await consume(service.as(token), id), { status: 'consumed' });
  });

  test('that approval only', async () => {
    const agent = await newAgent(service);
    const [one, other] = [
      await askApproved(agent.client, service.approver),
      await askApproved(agent.client, service.approver),
    ];
    await repeat(LIMIT, () => consume(agent.client, one, { action_hash: WRONG_HASH }));
    expectThrottled(await consume(agent.client, one));
    expectOk(await consume(agent.client, other));
  });

  test('for ids that do not exist as for those that do, to the byte', async () => {
    const { client } = await newAgent(service);
    const foreign = await ask(service.agent);
    const answers = await Promise.all(
      [foreign, UNKNOWN_APPROVAL].map(async (id) =>
        (await repeat(LIMIT + 1, () => client.get(`/v1/approvals/${id}`))).at(-1),
      ),
    );
    const [existing, missing] = answers as [ApiAnswer, ApiAnswer];
    expectThrottled(existing);
    expect(withoutRequestId(existing)).toBe(withoutRequestId(missing));
  });
});

test('past the limit the right hash is 429 too, and never spends', async () => {
  const agent = await newAgent(service);
  const id = await askApproved(agent.client, service.approver);
  const { action_hash } = await readApproval(agent.client, id);
  await repeat(LIMIT, () => consume(agent.client, id, { action_hash: WRONG_HASH }));
  for (const body of [undefined, { action_hash }, { action_hash, consumer_token: 'x'.repeat(16) }]) {
    expectThrottled(await consume(agent.client, id, body));
  }
  expect((await readApproval(service.approver, id)).status).toBe('approved');
});

test('concurrent failures do not pass the limit', async () => {
  const agent = await newAgent(service);
  const id = await askApproved(agent.client, service.approver);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => consume(agent.client, id, { action_hash: WRONG_HASH })),
  );
  const looked = answers.filter((answer) => answer.status === 409);
  expect(looked.length).toBeLessThanOrEqual(LIMIT);
  expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30 - looked.length);
});

test('what is not an attempt does not count', async () => {
  const { client } = await newActor(service, ['agent', 'approver']);
  const id = await ask(service.agent);
  const edited = await ask(service.agent);
  const tool_call = await editedCall(service.approver, edited, { amount: 8000 });
  expectOk(await service.approver.post(`/v1/approvals/${edited}/edit`, { tool_call }));
  const text = { rawBody: '{}', headers: { 'content-type': 'text/plain' } };
  const large = { rawBody: `{"reason":"${'x'.repeat(262_144)}"}` };
  for (let count = 0; count <= LIMIT; count += 1) {
    expectProblem(await consume(client, id), 409, 'approval_not_approved');
    expectProblem(
      await client.post(`/v1/approvals/${id}/outcome`, { outcome: 'failed' }),
      409,
      'approval_not_consumed',
    );
    expectProblem(
      await client.post(`/v1/approvals/${id}/approve`, undefined, { rawBody: '{' }),
      400,
      'invalid_json',
    );
    expectProblem(await client.post(`/v1/approvals/${id}/approve`, undefined, large), 413, 'body_too_large');
    expectProblem(
      await client.post(`/v1/approvals/${id}/approve`, undefined, text),
      415,
      'unsupported_media_type',
    );
    expectProblem(await client.post(`/v1/approvals/${id}/approve`, { x: 1 }), 422, 'invalid_request');
    expectProblem(await approve(client, edited), 428, 'precondition_required');
  }
  expectOk(await approve(client, id), { status: 'approved' });
});

test('an expired approval’s 410 and replays by token do not count', async () => {
  const agent = await newAgent(service);
  const consumed = await askApproved(agent.client, service.approver);
  const token = { consumer_token: 'x'.repeat(16) };
  for (const answer of await repeat(LIMIT + 2, () => consume(agent.client, consumed, token)))
    expectOk(answer);
  const expired = await ask(agent.client);
  await service.sql`update approvals set created_at = created_at - interval '1 day', expires_at = clock_timestamp()
    where approval_id = ${expired.slice(4)}`;
  for (const answer of await repeat(LIMIT + 2, () => consume(agent.client, expired))) {
    expectProblem(answer, 410, 'approval_expired');
  }
});

test('after the window the credential may try again', async () => {
  const quick = await startTestService({
    env: { AEGIS_APPROVAL_ATTEMPT_LIMIT: '2', AEGIS_APPROVAL_ATTEMPT_WINDOW_SECS: '4' },
  });
  try {
    const id = await askApproved(quick.agent, quick.approver);
    await repeat(2, () => consume(quick.agent, id, { action_hash: WRONG_HASH }));
    const throttled = await consume(quick.agent, id);
    expectProblem(throttled, 429, 'throttled');
    expect(throttled.headers.get('retry-after')).toMatch(/^[1-4]$/);
    await expect
      .poll(async () => (await consume(quick.agent, id)).status, { timeout: 15_000, interval: 200 })
      .toBe(200);
  } finally {
    await quick.close();
  }
});

describe('addresses', () => {
  test('past the limit, requests without a valid credential are 429 and valid ones still served', async () => {
    const limited = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '3' } });
    try {
      const bad = [limited.anonymous, limited.as('aeg_key_x'), limited.as(`${limited.tokens.AGENT}x`)];
      for (const client of bad) expectProblem(await client.get('/v1/me'), 401, 'unauthenticated');
      for (const client of bad) {
        const answer = await client.get('/v1/me');
        expectProblem(answer, 429, 'throttled');
        const seconds = Number(answer.headers.get('retry-after'));
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(60);
      }
      expectOk(await limited.agent.get('/v1/me'));
      expectOk(await authorize(limited.agent, refund(1)), { decision: 'allow' });
      expect((await limited.anonymous.get('/livez')).status).toBe(200);
      const spoofed = { headers: { 'x-forwarded-for': '203.0.113.7' } };
      expectProblem(await limited.anonymous.get('/v1/me', spoofed), 429, 'throttled');
    } finally {
      await limited.close();
    }
  });

  test('an address over its limit is refused without a statement on its count', async () => {
    const limited = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '2' } });
    const countCounts = () => limited.statements.filter((text) => text.includes('"rate_limits"')).length;
    try {
      await repeat(2, () => limited.anonymous.get('/v1/me'));
      expectProblem(await limited.anonymous.get('/v1/me'), 429, 'throttled');
      const before = countCounts();
      expect(before).toBe(3);
      for (const answer of await Promise.all(
        Array.from({ length: 20 }, () => limited.anonymous.get('/v1/me')),
      )) {
        expectThrottled(answer);
        expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      }
      expect(countCounts()).toBe(before);
      expectOk(await limited.agent.get('/v1/me'));
    } finally {
      await limited.close();
    }
  });

  test('behind a trusted proxy each client counts for itself', async () => {
    const env = { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '2', AEGIS_TRUST_PROXY: '127.0.0.0/8' };
    const proxied = await startTestService({ env });
    try {
      const from = (address: string) =>
        proxied.anonymous.get('/v1/me', { headers: { 'x-forwarded-for': `198.51.100.1, ${address}` } });
      await repeat(2, () => from('203.0.113.7'));
      expectProblem(await from('203.0.113.7'), 429, 'throttled');
      expectProblem(await from('203.0.113.8'), 401, 'unauthenticated');
    } finally {
      await proxied.close();
    }
  });
});
