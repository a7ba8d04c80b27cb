import { afterEach, describe, expect, test } from 'vitest';
import { computeActionHash } from '../../../src/core/action_hash.ts';
import { type AegisError, type PendingApproval, PendingError } from '../src/index.ts';
import { APPROVAL_ID, clientOf, type Peer, startPeer } from './peer.ts';

let peer: Peer;
afterEach(() => peer.close());

interface Refund {
  charge: string;
  amount: number;
}

const spec = {
  tool: 'stripe',
  action: 'refund',
  resource: ({ charge }: Refund) => charge,
  mutatesState: true,
};

/** A guarded refund in a process of its own, as far as memory goes, and what it ran on. */
function guard(changes: object = {}) {
  const runs: Refund[] = [];
  const runIds: string[] = [];
  const refund = clientOf(peer).protect({ ...spec, ...changes }, (parameters: Refund, { runId }) => {
    runs.push(parameters);
    runIds.push(runId);
  });
  return { refund, runs, runIds };
}

/** A call that was left pending, as the JSON that was stored of it. */
async function leavePending(): Promise<PendingApproval> {
  peer = await startPeer(({ method, before }, self) =>
    method === 'GET' && before === 0 ? { body: self.approval({ status: 'pending' }) } : undefined,
  );
  const error = await guard()
    .refund({ charge: 'ch_1', amount: 9000 }, { waitMs: 0 })
    .catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(PendingError);
  return JSON.parse(JSON.stringify(error));
}

test('a pending call is taken up from its JSON by another client, and runs what was asked', async () => {
  const stored = await leavePending();
  const { refund, runs, runIds } = guard();
  await refund.resume(stored);
  expect(runIds).toEqual([APPROVAL_ID]);
  expect(runs).toEqual([{ charge: 'ch_1', amount: 9000 }]);
  expect(peer.to('/authorize')).toHaveLength(1);
  expect(peer.to('/consume')).toHaveLength(1);
});

test('a pending error itself can be resumed', async () => {
  const stored = await leavePending();
  const { refund, runs } = guard();
  await refund.resume(new PendingError(stored, 'x'));
  expect(runs).toHaveLength(1);
});

describe('resume refuses, before anything is asked or run', () => {
  const others: [name: string, changes: object][] = [
    ['tool', { tool: 'crm' }],
    ['action', { action: 'charge' }],
    ['resource', { resource: 'ch_2' }],
    ['absent resource', { resource: null }],
    ['mutates_state', { mutatesState: false }],
  ];
  test.each(others)('the approval of another function: another %s', async (_name, changes) => {
    const stored = await leavePending();
    const sent = peer.received.length;
    const { refund, runs } = guard(changes);
    await expect(refund.resume(stored)).rejects.toMatchObject({ code: 'integrity' });
    expect(peer.received).toHaveLength(sent);
    expect(runs).toHaveLength(0);
  });

  test('a text that does not hash to its hash', async () => {
    const stored = await leavePending();
    const { refund } = guard();
    const canonical_action = stored.canonical_action.replace('9000', '9001');
    await expect(refund.resume({ ...stored, canonical_action })).rejects.toMatchObject({ code: 'integrity' });
  });

  test('a text that is not canonical, under its own hash', async () => {
    const stored = await leavePending();
    const sent = peer.received.length;
    const { createHash } = await import('node:crypto');
    for (const canonical_action of [`${stored.canonical_action} `, '[]', 'x', '{"tool":"stripe"}']) {
      const original_action_hash = createHash('sha256').update(canonical_action).digest('hex');
      const forged = { ...stored, canonical_action, original_action_hash };
      await expect(guard().refund.resume(forged)).rejects.toMatchObject({ code: 'integrity' });
    }
    expect(peer.received).toHaveLength(sent);
  });

  test('what is no pending approval, without repeating it', async () => {
    const { canonical_action } = await leavePending();
    const message = 'what is resumed is not a pending approval. Pass the `PendingError` or its parsed JSON';
    const text = JSON.stringify({ canonical_action });
    for (const other of [text, null, undefined, 7, [], { canonical_action }, { toJSON: () => null }]) {
      await expect(guard().refund.resume(other as never)).rejects.toThrow(new TypeError(message));
    }
  });

  test('an id that is none', async () => {
    const stored = await leavePending();
    const { refund } = guard();
    await expect(refund.resume({ ...stored, approval_id: '../keys' })).rejects.toThrow(TypeError);
  });
});

test('resume refuses when the service’s original hash is another', async () => {
  const stored = await leavePending();
  const other = {
    tool: 'stripe',
    action: 'refund',
    resource: 'ch_1',
    mutates_state: true,
    parameters: { charge: 'ch_1', amount: 1 },
  };
  const { canonicalAction } = await import('../../../src/core/canonical_action.ts');
  const { refund, runs } = guard();
  const swapped = {
    ...stored,
    canonical_action: canonicalAction(other),
    original_action_hash: computeActionHash(other),
  };
  const error = await refund.resume(swapped).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'integrity', message: 'the approval is for another action' });
  expect((error as AegisError).approval?.approval_id).toBe(APPROVAL_ID);
  expect(runs).toHaveLength(0);
  expect(peer.to('/consume')).toHaveLength(0);
});

test('a call that is still pending when resumed is pending again, with the same JSON', async () => {
  peer = await startPeer(({ method }, self) =>
    method === 'GET' ? { body: self.approval({ status: 'pending' }) } : undefined,
  );
  const first = await guard()
    .refund({ charge: 'ch_1', amount: 1 }, { waitMs: 0 })
    .catch((caught: PendingError) => caught.toJSON());
  const again = await guard()
    .refund.resume(first as PendingApproval, { waitMs: 0 })
    .catch((caught: PendingError) => caught.toJSON());
  expect(again).toEqual(first);
});

test('a resumed call binds to the context of who resumes it', async () => {
  const stored = await leavePending();
  await guard().refund.resume(stored, { context: { session_id: 's-9' } });
  expect(peer.to('/consume')[0]?.body.binding).toEqual({ session_id: 's-9' });
});
