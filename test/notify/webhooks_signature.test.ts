import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { signMessage } from '../../src/notify/webhooks/signature.ts';

interface VectorCase {
  name: string;
  headers: Record<string, string>;
  payload: string;
  now: number;
  expect: 'accept' | 'reject';
  scheme?: 'v1a';
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../vectors/webhook_signatures/standard-webhooks.json', import.meta.url), 'utf8'),
) as { secret_base64: string; cases: VectorCase[] };

const SYMMETRIC = VECTORS.cases.filter(({ scheme }) => scheme === undefined);
/** Signatures by a private key. We make none; those who verify ours must not take them for ours. */
const ASYMMETRIC = VECTORS.cases.filter(({ scheme }) => scheme === 'v1a');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function isAccepted({ headers, payload, now }: VectorCase): boolean {
  vi.setSystemTime(now * 1000);
  try {
    new Webhook(VECTORS.secret_base64).verify(payload, headers);
    return true;
  } catch {
    return false;
  }
}

describe('the vectors of Standard Webhooks', () => {
  test('are all here', () => {
    expect([SYMMETRIC.length, ASYMMETRIC.length]).toStrictEqual([12, 2]);
  });

  test.each(SYMMETRIC)('$name: $expect', (vector) => {
    expect(isAccepted(vector)).toBe(vector.expect === 'accept');
  });

  test.each(ASYMMETRIC)('$name: a signature of another scheme is none of ours', (vector) => {
    expect(isAccepted(vector)).toBe(false);
  });

  test('of what is accepted are signed by us to the byte', () => {
    const [first] = SYMMETRIC.filter((one) => one.expect === 'accept');
    if (first === undefined) throw new Error('no vector is accepted');
    const id = first.headers['webhook-id'] ?? '';
    const at = new Date(first.now * 1000 + 999);
    expect(signMessage(id, first.payload, [VECTORS.secret_base64], at)).toStrictEqual(first.headers);
    expect(signMessage(id, first.payload, [`whsec_${VECTORS.secret_base64}`], at)).toStrictEqual(
      first.headers,
    );
  });
});

test('a message of two secrets is verified by either of them, and by no third', () => {
  const at = new Date('2026-03-01T00:00:00Z');
  vi.setSystemTime(at);
  const secrets = ['a', 'b', 'c'].map((letter) => `whsec_${btoa(letter.repeat(32))}`);
  const [present = '', former = '', other = ''] = secrets;
  const payload = '{"type":"approval.requested"}';
  const headers = signMessage('dlv_1', payload, [present, former], at);
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of [present, former]) {
    expect(new Webhook(secret).verify(payload, headers)).toStrictEqual(JSON.parse(payload));
  }
  expect(() => new Webhook(other).verify(payload, headers)).toThrow();
  expect(() => new Webhook(present).verify(`${payload} `, headers)).toThrow();
});
