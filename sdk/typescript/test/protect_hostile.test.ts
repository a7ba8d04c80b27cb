import { afterEach, describe, expect, test } from 'vitest';
import { computeActionHash } from '../../../src/core/action_hash.ts';
import { PendingError, type ToolCall } from '../src/index.ts';
import {
  type Answer,
  authorizeAnswer,
  clientOf,
  consumeAnswer,
  edited,
  type Peer,
  problem,
  startPeer,
} from './peer.ts';

/** FAIL CLOSED: whatever the peer says, the function runs only on what was approved and consumed, and once. */

let peer: Peer;
afterEach(() => peer.close());

const asked: ToolCall = {
  tool: 'stripe',
  action: 'refund',
  resource: null,
  mutates_state: true,
  parameters: { amount: 9000 },
};
const swapped: ToolCall = { ...asked, parameters: { amount: 900_000 } };

/** Calls a guarded function against a peer: how it ended, and what it ran on. */
async function play(answer: Answer) {
  peer = await startPeer(answer);
  const runs: unknown[] = [];
  const refund = clientOf(peer).protect(
    { tool: 'stripe', action: 'refund', mutatesState: true },
    (parameters: { amount: number }) => void runs.push(parameters),
  );
  const error: unknown = await refund({ amount: 9000 }).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return { error, runs };
}

const onAuthorize =
  (changes: Record<string, unknown>): Answer =>
  ({ path }, self) =>
    path === '/v1/authorize' ? { body: authorizeAnswer(self, changes) } : undefined;
const onGet =
  (changes: Record<string, unknown>): Answer =>
  ({ method }, self) =>
    method === 'GET' ? { body: self.approval(changes) } : undefined;
const onConsume =
  (body: (self: Peer) => unknown): Answer =>
  ({ path }, self) =>
    path.endsWith('/consume') ? { body: body(self) } : undefined;

const lies: [name: string, answer: Answer, code: string][] = [
  ['allow under another hash', onAuthorize({ decision: 'allow', action_hash: 'f'.repeat(64) }), 'integrity'],
  ['allow, as a dry run', onAuthorize({ decision: 'allow', dry_run: true }), 'integrity'],
  ['an unknown decision', onAuthorize({ decision: 'allow_once' }), 'integrity'],
  ['a decision that is no text', onAuthorize({ decision: true }), 'integrity'],
  ['an allow of no decision on record', onAuthorize({ decision: 'allow', decision_id: null }), 'integrity'],
  ['no decision', onAuthorize({ decision: undefined }), 'integrity'],
  ['require_approval without an approval', onAuthorize({ approval: null }), 'integrity'],
  [
    'an approval of another hash',
    onAuthorize({ approval: { approval_id: 'apr_1', action_hash: 'f'.repeat(64) } }),
    'integrity',
  ],
  ['an unknown status', onGet({ status: 'preapproved' }), 'integrity'],
  ['a status named like a member of every object', onGet({ status: 'constructor' }), 'integrity'],
  ['another approval', onGet({ approval_id: 'apr_2' }), 'integrity'],
  ['an approval of another original', onGet({ original_action_hash: 'f'.repeat(64) }), 'integrity'],
  ['a tool call swapped after approval', onGet({ tool_call: swapped }), 'integrity'],
  [
    'a tool call and its hash swapped, not said to be edited',
    onGet({ ...edited(swapped), edited: false }),
    'integrity',
  ],
  ['a tool call without parameters', onGet({ tool_call: { ...asked, parameters: null } }), 'integrity'],
  [
    'a consume under another hash',
    onConsume(() => consumeAnswer(asked, { action_hash: 'f'.repeat(64) })),
    'integrity',
  ],
  ['a consume of another action', onConsume(() => consumeAnswer(swapped)), 'integrity'],
  [
    'a consume of another action under the approved hash',
    onConsume(() => consumeAnswer(swapped, { action_hash: computeActionHash(asked) })),
    'integrity',
  ],
  [
    'a consume of another approval',
    onConsume(() => consumeAnswer(asked, { approval_id: 'apr_2' })),
    'integrity',
  ],
  ['a consume that is not one', onConsume(() => consumeAnswer(asked, { status: 'approved' })), 'integrity'],
  [
    'a consume that does not say whether it is a replay',
    onConsume(() => consumeAnswer(asked, { replayed: undefined })),
    'integrity',
  ],
  [
    'the replay of a consume that is not this call’s',
    onConsume(() => consumeAnswer(asked, { replayed: true })),
    'already_consumed',
  ],
  ['junk in place of a decision', () => ({ body: 'ok' }), 'unavailable'],
  [
    'a decision with a duplicate member',
    (_request, self) => ({
      body: JSON.stringify(authorizeAnswer(self)).replace('{', '{"decision":"allow",'),
    }),
    'unavailable',
  ],
  ['an empty answer', () => ({ body: '' }), 'integrity'],
  ['a list', () => ({ body: [] }), 'integrity'],
  ['no answer', () => ({ cut: true }), 'unavailable'],
  ['503 to everything', () => problem(503, 'unavailable'), 'unavailable'],
  [
    'a consume that never succeeds',
    ({ path }) => (path.endsWith('/consume') ? { cut: true } : undefined),
    'unavailable',
  ],
];

describe('nothing runs on', () => {
  test.each(lies)('%s', async (_name, answer, code) => {
    const { error, runs } = await play(answer);
    expect(runs).toEqual([]);
    expect(error).toMatchObject({ code });
  });
});

test('an edited action that is not what was hashed for approval is not even consumed', async () => {
  const { error, runs } = await play(({ method, path }, self) => {
    if (method === 'GET') {
      return { body: self.approval({ ...edited(swapped), action_hash: computeActionHash(asked) }) };
    }
    return path.endsWith('/consume') ? { body: consumeAnswer(swapped) } : undefined;
  });
  expect(error).toMatchObject({ code: 'integrity' });
  expect(runs).toEqual([]);
  expect(peer.to('/consume')).toHaveLength(0);
});

test('an edit that changed nothing, or was edited back, runs what was asked for', async () => {
  const { error, runs } = await play(onGet({ edited: true, version: 3 }));
  expect(error).toBeUndefined();
  expect(runs).toEqual([{ amount: 9000 }]);
});

test('the replay of a consume that somebody on the way sent twice is reported as unknown', async () => {
  await play(onConsume(() => consumeAnswer(asked, { replayed: true })));
  expect(peer.to('/outcome').map(({ body }) => body)).toEqual([{ outcome: 'unknown', effect: 'unknown' }]);
});

test('a consume that was refused afterwards is reported as without effect', async () => {
  await play(onConsume(() => consumeAnswer(swapped)));
  expect(peer.to('/outcome').map(({ body }) => body)).toEqual([{ outcome: 'failed', effect: 'none' }]);
});

test('a lost consume is asked for again with the same token, and its replay runs once', async () => {
  const { error, runs } = await play(({ path, before }) => {
    if (!path.endsWith('/consume')) {
      return undefined;
    }
    return before === 0 ? { cut: true } : { body: consumeAnswer(asked, { replayed: true }) };
  });
  expect(error).toBeUndefined();
  expect(runs).toEqual([{ amount: 9000 }]);
  const tokens = peer.to('/consume').map(({ body }) => body.consumer_token);
  expect(tokens).toHaveLength(2);
  expect(new Set(tokens).size).toBe(1);
});

test('a lost authorize is asked for again under the same key', async () => {
  const { runs } = await play(({ path, before }) =>
    path === '/v1/authorize' && before === 0 ? { cut: true } : undefined,
  );
  expect(runs).toHaveLength(1);
  expect(new Set(peer.to('/authorize').map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('a lost answer that another consumer won does not run', async () => {
  const { error, runs } = await play(({ path, before }) => {
    if (!path.endsWith('/consume')) {
      return undefined;
    }
    return before === 0
      ? { cut: true }
      : problem(409, 'approval_already_consumed', { approval_status: 'consumed' });
  });
  expect(error).toMatchObject({ code: 'already_consumed' });
  expect(runs).toEqual([]);
});

test('an approval called pending past its own expiry is not waited for without end', async () => {
  const times = { created_at: '2026-01-01T00:00:00.000Z', expires_at: '2025-12-31T23:59:00.000Z' };
  const { error, runs } = await play(onGet({ status: 'pending', ...times }));
  expect(error).toBeInstanceOf(PendingError);
  expect(runs).toEqual([]);
});

test('a peer that answers pending at once is not asked in a tight loop', async () => {
  const { runs } = await play(({ method, before }, self) =>
    method === 'GET' && before < 5 ? { body: self.approval({ status: 'pending' }) } : undefined,
  );
  expect(runs).toHaveLength(1);
  expect(peer.received.filter(({ method }) => method === 'GET')).toHaveLength(6);
});
