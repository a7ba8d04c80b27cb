import { afterEach, describe, expect, test } from 'vitest';
import { Aegis } from '../src/index.ts';
import {
  type Answer,
  APPROVAL_ID,
  clientOf,
  consumeAnswer,
  edited,
  KEY,
  type Peer,
  startPeer,
} from './peer.ts';

let peer: Peer;
afterEach(() => peer?.close());

describe('a client option that bounds nothing is a TypeError at once', () => {
  const make = (options: object) => () => new Aegis({ baseUrl: 'http://x', key: KEY, ...options });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 2 ** 31, '5', null])('%s', (value) => {
    for (const name of ['max', 'baseMs', 'capMs', 'retryAfterMaxMs', 'outageMs']) {
      expect(make({ retry: { [name]: value } })).toThrow(`\`retry.${name}\` is not a number from 0 to`);
    }
    if (value !== null) {
      expect(make({ timeoutMs: value })).toThrow('`timeoutMs` is not a number from 0 to');
    }
  });
});

test('a retry option that is undefined leaves the default standing', async () => {
  peer = await startPeer(() => ({ cut: true }));
  const retry = { max: undefined, baseMs: 1, capMs: 1, outageMs: undefined } as never;
  const aegis = new Aegis({ baseUrl: peer.url, key: KEY, timeoutMs: undefined, retry });
  await expect(aegis.me()).rejects.toMatchObject({ code: 'unavailable' });
  expect(peer.received).toHaveLength(5);
});

describe('the options of a guarded function', () => {
  const spec = { tool: 'stripe', action: 'refund', mutatesState: true };
  const smaller = {
    tool: 'stripe',
    action: 'refund',
    resource: null,
    mutates_state: true,
    parameters: { n: 1 },
  };
  const editedAnswer: Answer = ({ method, path }, self) => {
    if (method === 'GET') {
      return { body: self.approval(edited(smaller)) };
    }
    return path.endsWith('/consume') ? { body: consumeAnswer(smaller) } : undefined;
  };

  test('stand where a call’s own are undefined', async () => {
    peer = await startPeer(editedAnswer);
    const runs: unknown[] = [];
    const refund = clientOf(peer).protect(spec, (parameters) => runs.push(parameters), {
      onEdited: 'refuse',
    });
    const options = { onEdited: undefined, signal: undefined, waitMs: undefined };
    await expect(refund({ n: 9 }, options)).rejects.toMatchObject({ code: 'cancelled' });
    expect(runs).toEqual([]);
  });

  test('are those of the moment it was guarded', async () => {
    peer = await startPeer(editedAnswer);
    const defaults: { onEdited: 'run' | 'refuse' } = { onEdited: 'refuse' };
    const refund = clientOf(peer).protect(spec, () => 1, defaults);
    defaults.onEdited = 'run';
    await expect(refund({ n: 9 })).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('are checked when it is guarded', async () => {
    peer = await startPeer();
    const aegis = clientOf(peer);
    expect(() => aegis.protect(spec, () => 1, { waitMs: -1 })).toThrow(TypeError);
    expect(() => aegis.protect(spec, () => 1, { onEdited: 'ignore' as never })).toThrow(TypeError);
  });
});

describe('what cannot be sent is a TypeError, and nothing is sent', () => {
  const tool_call = { tool: 't', action: 'a', mutates_state: false, parameters: {} };

  test.each(['', ' ', 'a\nb', 'é', 'ключ', 'a\u0000'])('the idempotency key %j', async (idempotencyKey) => {
    peer = await startPeer();
    await expect(clientOf(peer).authorize({ tool_call }, { idempotencyKey })).rejects.toThrow(TypeError);
    expect(peer.received).toHaveLength(0);
  });

  test.each([Number.NaN, -1, 56, 0.5, '1'])('a wait of %j seconds, or such a version', async (value) => {
    peer = await startPeer();
    const aegis = clientOf(peer);
    const number = value as number;
    await expect(aegis.getApproval(APPROVAL_ID, { waitSeconds: number })).rejects.toThrow(TypeError);
    if (value !== 56) {
      await expect(aegis.getApproval(APPROVAL_ID, { version: number })).rejects.toThrow(TypeError);
      await expect(aegis.cancel(APPROVAL_ID, {}, { ifMatchVersion: number })).rejects.toThrow(TypeError);
    }
    expect(peer.received).toHaveLength(0);
  });
});
