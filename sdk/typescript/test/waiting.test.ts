import { afterEach, describe, expect, test } from 'vitest';
import { type AegisOptions, PendingError } from '../src/index.ts';
import { type Answer, clientOf, type Peer, problem, startPeer } from './peer.ts';

let peer: Peer;
afterEach(() => peer.close());

async function guard(answer: Answer, options: Partial<AegisOptions> = {}) {
  peer = await startPeer(answer);
  const aegis = clientOf(peer, options);
  const refund = aegis.protect({ tool: 'stripe', action: 'refund', mutatesState: true }, () => 'refunded');
  return { aegis, refund };
}

const looks = () => peer.received.filter(({ method }) => method === 'GET');
const onLook =
  (reply: ReturnType<Answer>): Answer =>
  ({ method, before }) =>
    method === 'GET' && before === 0 ? reply : undefined;
const busy = (seconds: string) => ({ ...problem(503, 'unavailable'), headers: { 'retry-after': seconds } });

test('a wait does not look once more after its deadline', async () => {
  // The pause after the failed look lasts until the deadline.
  const slow = { max: 0, baseMs: 60_000, capMs: 60_000, outageMs: 60_000 };
  const { refund } = await guard(onLook({ cut: true }), { retry: slow });
  const error = await refund({ amount: 1 }, { waitMs: 400 }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(PendingError);
  expect((error as PendingError).cause).toMatchObject({ code: 'unavailable' });
  expect(looks()).toHaveLength(1);
});

test('a wait of a moment is cut off at its first look as well', async () => {
  const { refund } = await guard(({ method }) => (method === 'GET' ? { hang: true } : undefined));
  await expect(refund({ amount: 1 }, { waitMs: 0.5 })).rejects.toBeInstanceOf(PendingError);
});

describe('Retry-After', () => {
  test('is kept to between looks', async () => {
    const { refund } = await guard(onLook(busy('1')), { retry: { max: 0, outageMs: 5_000 } });
    const start = performance.now();
    expect(await refund({ amount: 1 })).toBe('refunded');
    expect(performance.now() - start).toBeGreaterThanOrEqual(990);
    expect(looks()).toHaveLength(2);
  });

  test('beyond the bound ends the wait as pending, with the error as its cause', async () => {
    const { refund } = await guard(onLook(busy('600')), { retry: { outageMs: 5_000 } });
    const error = await refund({ amount: 1 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(PendingError);
    expect((error as PendingError).cause).toMatchObject({ code: 'unavailable', retryAfterSeconds: 600 });
    expect(looks()).toHaveLength(1);
  });

  test('is kept to between reports of an outcome', async () => {
    const { aegis, refund } = await guard(
      ({ path, before }) => (path.endsWith('/outcome') && before === 0 ? busy('1') : undefined),
      { retry: { max: 0, outageMs: 5_000 } },
    );
    const start = performance.now();
    await refund({ amount: 1 });
    await aegis.flush();
    expect(performance.now() - start).toBeGreaterThanOrEqual(990);
    expect(peer.to('/outcome')).toHaveLength(2);
  });

  test('beyond the bound gives a report up', async () => {
    const failed: unknown[] = [];
    const { aegis, refund } = await guard(
      ({ path }) => (path.endsWith('/outcome') ? busy('600') : undefined),
      {
        retry: { outageMs: 5_000 },
        onReportFailed: (failure) => failed.push(failure),
      },
    );
    expect(await refund({ amount: 1 })).toBe('refunded');
    await aegis.flush();
    expect(failed).toMatchObject([{ error: { retryAfterSeconds: 600 } }]);
    expect(peer.to('/outcome')).toHaveLength(1);
  });
});
