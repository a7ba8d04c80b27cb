import { describe, expect, test } from 'vitest';
import { parseRetryAfter, RETRY_SECONDS, secondsUntilNext } from '../../src/notify/webhooks/retry.ts';

const NOW = new Date('2026-03-01T00:00:00Z');

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['120', 120],
    ['86400', 86_400],
    ['86401', 86_400],
    ['9999999999', 86_400],
    ['Sun, 01 Mar 2026 00:02:00 GMT', 120],
    ['Sunday, 01-Mar-26 00:02:00 GMT', 120],
    ['Sun Mar  1 00:02:00 2026', 120],
    ['Sat, 28 Feb 2026 00:00:00 GMT', 0],
    ['Sun, 01 Mar 2099 00:00:00 GMT', 86_400],
  ])('%s asks for %s seconds', (text, seconds) => {
    expect(parseRetryAfter(text, NOW)).toBe(seconds);
  });

  test.each([
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    'soon',
    '99999999999',
    '2026-03-01T00:02:00Z',
    'Sun, 99 Mar 2026 00:02:00 GMT',
  ])('%s asks for nothing', (text) => {
    expect(parseRetryAfter(text, NOW)).toBeNull();
  });
});

describe('the next attempt', () => {
  test('comes on the schedule of Standard Webhooks, ten attempts in all', () => {
    const minute = 60;
    const hour = 3600;
    expect([0, ...RETRY_SECONDS]).toStrictEqual([
      0,
      5,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
    ]);
    const pauses = Array.from({ length: 10 }, (_, index) =>
      secondsUntilNext(RETRY_SECONDS, index + 1, null, 0),
    );
    expect(pauses).toStrictEqual([...RETRY_SECONDS, null]);
  });

  test('is later by up to a tenth, and never earlier', () => {
    expect(secondsUntilNext(RETRY_SECONDS, 2, null, 0)).toBe(300);
    expect(secondsUntilNext(RETRY_SECONDS, 2, null, 0.5)).toBe(315);
    expect(secondsUntilNext(RETRY_SECONDS, 2, null, 0.999)).toBeLessThan(330);
  });

  test('waits as long as the receiver asks for, and never less than planned', () => {
    expect(secondsUntilNext(RETRY_SECONDS, 1, 60, 0)).toBe(60);
    expect(secondsUntilNext(RETRY_SECONDS, 3, 60, 0)).toBe(1800);
    expect(secondsUntilNext(RETRY_SECONDS, 10, 60, 0)).toBeNull();
  });
});
