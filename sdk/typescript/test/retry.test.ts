import { afterEach, describe, expect, test } from 'vitest';
import { parseRetryAfter } from '../src/backoff.ts';
import {
  type Answer,
  APPROVAL_ID,
  authorizeAnswer,
  clientOf,
  consumeAnswer,
  type Peer,
  problem,
  startPeer,
} from './peer.ts';

let peer: Peer;
afterEach(() => peer.close());

const call = { tool: 'stripe', action: 'refund', mutates_state: true, parameters: { amount: 1 } };

/** The first two requests to a path fail as named. */
const failing: [name: string, answer: Answer][] = [
  ['a cut connection', ({ before }) => (before < 2 ? { cut: true } : undefined)],
  ['503', ({ before }) => (before < 2 ? problem(503, 'unavailable') : undefined)],
  ['a 502 of a proxy', ({ before }) => (before < 2 ? { status: 502, body: '<html>' } : undefined)],
  ['an answer that is no JSON', ({ before }) => (before < 2 ? { body: '<html>' } : undefined)],
  [
    'an answer with a duplicate member',
    ({ before }) => (before < 2 ? { body: '{"status":"approved","status":"approved"}' } : undefined),
  ],
];

describe('sent again after a lost answer', () => {
  test.each(failing)('%s: a read', async (_name, answer) => {
    peer = await startPeer(answer);
    expect((await clientOf(peer).getApproval(APPROVAL_ID)).approval_id).toBe(APPROVAL_ID);
    expect(peer.received).toHaveLength(3);
  });

  test.each(failing)('%s: a consume with a token, the same each time', async (_name, answer) => {
    peer = await startPeer(
      (request, self) => answer(request, self) ?? { body: consumeAnswer({ ...call, resource: null }) },
    );
    await clientOf(peer).consume(APPROVAL_ID, { consumer_token: 'a-token-of-this-call' });
    expect(peer.received.map(({ body }) => body.consumer_token)).toEqual(
      Array(3).fill('a-token-of-this-call'),
    );
  });

  test.each(failing)(
    '%s: an authorize with an idempotency key, the same each time',
    async (_name, answer) => {
      peer = await startPeer(answer);
      await clientOf(peer).authorize({ tool_call: call }, { idempotencyKey: 'key-1' });
      expect(peer.received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('key-1'));
    },
  );
});

describe('never sent again by itself', () => {
  const once: [name: string, run: (aegis: ReturnType<typeof clientOf>) => Promise<unknown>][] = [
    ['an authorize without an idempotency key', (aegis) => aegis.authorize({ tool_call: call })],
    ['a consume without a token', (aegis) => aegis.consume(APPROVAL_ID)],
    ['an approval', (aegis) => aegis.approve(APPROVAL_ID)],
    ['a rejection', (aegis) => aegis.reject(APPROVAL_ID)],
    ['an edit', (aegis) => aegis.edit(APPROVAL_ID, { tool_call: call })],
    ['a cancel', (aegis) => aegis.cancel(APPROVAL_ID)],
    ['a new key', (aegis) => aegis.createKey({ principal: 'a', roles: ['agent'] })],
    ['a revocation', (aegis) => aegis.revokeKey('key_1')],
    ['a new tenant', (aegis) => aegis.createTenant({ tenant_id: 'a' })],
  ];

  test.each(once)('%s', async (_name, run) => {
    peer = await startPeer(() => problem(503, 'unavailable'));
    await expect(run(clientOf(peer))).rejects.toMatchObject({ code: 'unavailable' });
    expect(peer.received).toHaveLength(1);
  });
});

test('a refusal that will stay one is not asked for again', async () => {
  peer = await startPeer(() => problem(404, 'not_found'));
  await expect(clientOf(peer).getApproval(APPROVAL_ID)).rejects.toMatchObject({ code: 'invalid_request' });
  expect(peer.received).toHaveLength(1);
});

test('attempts are bounded', async () => {
  peer = await startPeer(() => ({ cut: true }));
  await expect(clientOf(peer).me()).rejects.toMatchObject({ code: 'unavailable' });
  expect(peer.received).toHaveLength(4);
});

test('Retry-After is kept to', async () => {
  peer = await startPeer(({ before }) =>
    before === 0 ? { ...problem(429, 'throttled'), headers: { 'retry-after': '1' } } : { body: {} },
  );
  const start = performance.now();
  await clientOf(peer).me();
  expect(performance.now() - start).toBeGreaterThanOrEqual(990);
});

test('a Retry-After beyond the bound ends the call instead of holding it', async () => {
  peer = await startPeer(() => ({ ...problem(503, 'unavailable'), headers: { 'retry-after': '600' } }));
  await expect(clientOf(peer).me()).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 600 });
  expect(peer.received).toHaveLength(1);
});

test('Retry-After is seconds or a date', () => {
  expect(parseRetryAfter('120', 0)).toBe(120);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:30 GMT', 10_000)).toBe(20);
  expect(parseRetryAfter('Thu, 01 Jan 1970 00:00:30 GMT', 40_000)).toBe(0);
  expect(parseRetryAfter('soon', 0)).toBeUndefined();
  expect(parseRetryAfter(null, 0)).toBeUndefined();
});

test('a service that never answers is given up after the timeout', async () => {
  peer = await startPeer(() => ({ hang: true }));
  const aegis = clientOf(peer, { timeoutMs: 30, retry: { max: 1, baseMs: 1 } });
  await expect(aegis.me()).rejects.toMatchObject({ code: 'unavailable', message: 'me: no answer in time' });
  expect(peer.received).toHaveLength(2);
});

test('an aborted call ends with the signal’s reason and is not sent again', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  peer = await startPeer(() => {
    controller.abort(reason);
    return { hang: true };
  });
  await expect(clientOf(peer).me({ signal: controller.signal })).rejects.toBe(reason);
  expect(peer.received).toHaveLength(1);
});

test('a redirect is not followed, so neither key nor action go elsewhere', async () => {
  peer = await startPeer(({ path }) =>
    path === '/v1/me' ? { status: 307, headers: { location: '/elsewhere' }, body: {} } : { body: {} },
  );
  await expect(clientOf(peer).me()).rejects.toMatchObject({ code: 'unavailable' });
  expect(peer.to('/elsewhere')).toHaveLength(0);
});

describe('an outcome', () => {
  const outcome = { outcome: 'executed', effect: 'occurred', at: '2026-01-01T00:00:00.000Z' } as const;
  const report = () => clientOf(peer).reportOutcome(APPROVAL_ID, { outcome: 'executed', effect: 'occurred' });
  const reported = problem(409, 'outcome_already_reported', { approval_status: 'consumed' });

  test('"already reported" after a lost answer is what the lost attempt did', async () => {
    peer = await startPeer((request, self) => {
      if (request.method === 'GET') {
        return { body: self.approval({ status: 'consumed', outcome }) };
      }
      return request.before === 0 ? { cut: true } : reported;
    });
    expect((await report()).outcome).toEqual(outcome);
  });

  test('"already reported" after a lost answer is an error when another outcome is on record', async () => {
    peer = await startPeer((request, self) => {
      if (request.method === 'GET') {
        return { body: self.approval({ status: 'consumed', outcome: { ...outcome, outcome: 'failed' } }) };
      }
      return request.before === 0 ? { cut: true } : reported;
    });
    await expect(report()).rejects.toMatchObject({ problem: { code: 'outcome_already_reported' } });
  });

  test('"already reported" at the first attempt is an error', async () => {
    peer = await startPeer(() => reported);
    await expect(report()).rejects.toMatchObject({ problem: { code: 'outcome_already_reported' } });
  });
});

test('authorize by hand sends the hash and refuses an answer about another action', async () => {
  peer = await startPeer((_request, self) => ({
    body: authorizeAnswer(self, { action_hash: 'f'.repeat(64) }),
  }));
  await expect(clientOf(peer).authorize({ tool_call: call })).rejects.toMatchObject({ code: 'integrity' });
  expect(peer.received[0]?.body.action_hash).toMatch(/^[0-9a-f]{64}$/);
});

test('every page of a list is walked', async () => {
  peer = await startPeer((request, self) => ({
    body: {
      items: [self.approval({ version: request.before + 1 })],
      next_cursor: request.before < 2 ? `c${request.before}` : null,
    },
  }));
  const versions: number[] = [];
  for await (const approval of clientOf(peer).approvals({ status: 'pending' })) {
    versions.push(approval.version);
  }
  expect(versions).toEqual([1, 2, 3]);
  expect(peer.received.map(({ query }) => query.get('cursor'))).toEqual([null, 'c0', 'c1']);
  expect(peer.received.map(({ query }) => query.get('status'))).toEqual(Array(3).fill('pending'));
});

test('a full page of approvals with many parameters is read', async () => {
  const parameters = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, index]));
  peer = await startPeer((_request, self) => {
    self.asked = { ...call, resource: null, parameters };
    return { body: { items: Array(3).fill(self.approval()), next_cursor: null } };
  });
  expect((await clientOf(peer).listApprovals({ limit: 200 })).items).toHaveLength(3);
});

test('each change can be bound to the version that was seen', async () => {
  peer = await startPeer();
  const aegis = clientOf(peer);
  const seen = { ifMatchVersion: 2 };
  await aegis.approve(APPROVAL_ID, {}, seen);
  await aegis.reject(APPROVAL_ID, {}, seen);
  await aegis.edit(APPROVAL_ID, { tool_call: call }, seen);
  await aegis.cancel(APPROVAL_ID, {}, seen);
  expect(peer.received.map(({ headers }) => headers['if-match'])).toEqual(Array(4).fill('"2"'));
});

test('an id that would change the path is refused before anything is sent', async () => {
  peer = await startPeer();
  const aegis = clientOf(peer);
  for (const id of ['..', '.', 'a/b', '', 'apr_1?x=1']) {
    await expect((async () => aegis.approve(id))()).rejects.toThrow(TypeError);
    await expect((async () => aegis.revokeKey(id))()).rejects.toThrow(TypeError);
  }
  expect(peer.received).toHaveLength(0);
});
