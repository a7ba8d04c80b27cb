import { expect, test } from 'vitest';
import { shareChecker } from '../../src/policy/shared_checkers.ts';

const schemaOf = (maximum: number) => ({
  type: 'object',
  properties: { amount: { type: 'integer', maximum } },
  additionalProperties: false,
});

test('equal schemas share a checker, different ones never do', () => {
  expect(shareChecker(schemaOf(1))).toBe(shareChecker(schemaOf(1)));
  expect(shareChecker(schemaOf(2))).not.toBe(shareChecker(schemaOf(1)));
});

test('of thousands of schemas each is checked by its own, whichever were dropped meanwhile', () => {
  const maxima = Array.from({ length: 4_200 }, (_, index) => index);
  const first = shareChecker(schemaOf(0));
  for (const maximum of maxima) shareChecker(schemaOf(maximum));
  for (const maximum of [0, 1, 63, 64, 65, 4_199]) {
    const check = shareChecker(schemaOf(maximum));
    expect(check({ amount: maximum })).toBeUndefined();
    expect(check({ amount: maximum + 1 })).toMatchObject({ pointer: '/amount' });
  }
  expect(first({ amount: 1 })).toMatchObject({ pointer: '/amount' });
}, 120_000);
