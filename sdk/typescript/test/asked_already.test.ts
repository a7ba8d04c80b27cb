import { afterEach, describe, expect, test } from 'vitest';
import { computeActionHash } from '../../../src/core/action_hash.ts';
import type { AegisError, PendingApproval } from '../src/index.ts';
import { type Answer, APPROVAL_ID, clientOf, type Peer, problem, startPeer } from './peer.ts';

/** Once a person was asked, whatever goes wrong leaves the caller with what takes the call up again. */

let peer: Peer;
afterEach(() => peer.close());

const asked = {
  tool: 'stripe',
  action: 'refund',
  resource: null,
  mutates_state: true,
  parameters: { amount: 9000 },
};
const PENDING: PendingApproval = {
  approval_id: APPROVAL_ID,
  original_action_hash: computeActionHash(asked),
  canonical_action:
    '{"action":"refund","mutates_state":true,"parameters":{"amount":9000},"resource":null,"tool":"stripe"}',
};

async function guard(answer: Answer, fn: (parameters: { amount: number }) => unknown = () => 'refunded') {
  peer = await startPeer(answer);
  return clientOf(peer).protect({ tool: 'stripe', action: 'refund', mutatesState: true }, fn);
}

const caught = (call: Promise<unknown>): Promise<AegisError> =>
  call.then(
    () => Promise.reject(new Error('the call did not fail')),
    (error: AegisError) => error,
  );

const refused: [name: string, status: number, wire: string, code: string][] = [
  ['the service is away', 503, 'unavailable', 'unavailable'],
  ['the service is busy', 429, 'throttled', 'throttled'],
];

describe('at the consume', () => {
  test.each(refused)(
    '%s: the error is resumed, and no second person is asked',
    async (_name, status, wire, code) => {
      const refund = await guard(({ path, before }) =>
        path.endsWith('/consume') && before < 4 ? problem(status, wire) : undefined,
      );
      const error = await caught(refund({ amount: 9000 }));
      expect(error).toMatchObject({ code, pending: PENDING });
      expect(error.forModel).toContain('do not ask again');
      expect(error.forModel).not.toContain('Try again');
      const stored = JSON.parse(JSON.stringify(error.pending));
      expect(await refund.resume(stored)).toBe('refunded');
      expect(peer.to('/authorize')).toHaveLength(1);
    },
  );
});

test.each([
  ['a look that is refused', () => problem(401, 'unauthenticated'), 'unauthenticated'],
  [
    'an approval that contradicts itself',
    (self: Peer) => ({ body: self.approval({ version: 'x' }) }),
    'integrity',
  ],
  ['a rejection', (self: Peer) => ({ body: self.approval({ status: 'rejected' }) }), 'rejected'],
])('%s carries the pending call as well', async (_name, reply, code) => {
  const refund = await guard(({ method }, self) => (method === 'GET' ? reply(self) : undefined));
  expect(await caught(refund({ amount: 9000 }))).toMatchObject({ code, pending: PENDING });
});

test('before a person was asked there is nothing to take up, and the model may try again', async () => {
  const refund = await guard(() => problem(503, 'unavailable'));
  const error = await caught(refund({ amount: 9000 }));
  expect(error.pending).toBeUndefined();
  expect(error.forModel).toContain('Try again later, once.');
});

test('an error of the function’s own is not said to be resumable', async () => {
  const { AegisError: Own } = await import('../src/index.ts');
  const failure = new Own('unavailable', 'of a guarded call inside');
  const refund = await guard(
    () => undefined,
    () => Promise.reject(failure),
  );
  expect(await caught(refund({ amount: 9000 }))).toBe(failure);
  expect(failure.pending).toBeUndefined();
});
