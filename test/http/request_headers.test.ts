import { describe, expect, test } from 'vitest';
import {
  findRepeatedHeader,
  parseBearer,
  parseIdempotencyKey,
  parseIfMatch,
  parsePrefer,
} from '../../src/http/request_headers.ts';

const INVALID = expect.objectContaining({
  code: 'invalid_request',
  detail: expect.stringMatching(/\. Send /),
});

describe('repeated headers', () => {
  test('a single-valued header that stands twice is found, in any case of letters', () => {
    const raw = ['Host', 'a', 'Authorization', 'b', 'accept', 'c', 'AUTHORIZATION', 'b'];
    expect(findRepeatedHeader(raw)).toBe('authorization');
  });

  test('headers that are lists may repeat, and a value that looks like a name is none', () => {
    expect(findRepeatedHeader(['Host', 'authorization', 'Authorization', 'host'])).toBeUndefined();
    expect(
      findRepeatedHeader(['Accept', 'a', 'accept', 'b', 'X-Forwarded-For', 'a', 'X-Forwarded-For', 'b']),
    ).toBe(undefined);
    expect(findRepeatedHeader([])).toBeUndefined();
  });
});

describe('bearer credentials', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   a-b._~+/==', 'a-b._~+/=='],
    [`Bearer ${'a'.repeat(512)}`, 'a'.repeat(512)],
  ])('`%s` holds a token', (header, token) => {
    expect(parseBearer(header)).toEqual({ kind: 'token', token });
  });

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearerabc',
    'Bearer\tabc',
    'Bearer a b',
    'Bearer a,b',
    'Bearer a, Bearer b',
    'Bearer "a"',
    'Bearer a=b',
    'Bearer =',
    'Bearer é',
    'Basic abc',
    'abc',
    ' Bearer abc',
    'Bearer abc ',
    `Bearer ${'a'.repeat(513)}`,
  ])('`%s` is malformed', (header) => {
    expect(parseBearer(header)).toEqual({ kind: 'malformed' });
  });

  test('no header is absent', () => {
    expect(parseBearer(undefined)).toEqual({ kind: 'absent' });
  });
});

describe('idempotency keys', () => {
  test.each([
    ['abc-123', 'abc-123'],
    ['"abc-123"', 'abc-123'],
    ['"a b, c"', 'a b, c'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['a\\b', 'a\\b'],
    ['a'.repeat(256), 'a'.repeat(256)],
    [`"${'a'.repeat(256)}"`, 'a'.repeat(256)],
  ])('`%s` is a key', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  test.each([
    '',
    '""',
    '"',
    '"a',
    'a"',
    'a b',
    'a,b',
    '"a", "b"',
    '"a"b"',
    '"a\\c"',
    '"a";x=1',
    'é',
    '"é"',
    '"\t"',
    'a'.repeat(257),
    `"${'a'.repeat(257)}"`,
  ])('`%s` is invalid_request', (header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(INVALID);
  });

  test('no header is no key', () => {
    expect(parseIdempotencyKey(undefined)).toBeUndefined();
  });
});

describe('if-match', () => {
  test.each([
    ['"1"', 1],
    ['"0"', 0],
    ['"2147483647"', 2147483647],
  ])('%s asks for a version', (header, version) => {
    expect(parseIfMatch(header)).toBe(version);
  });

  test.each([
    '',
    '*',
    'W/"1"',
    '"1", "2"',
    '"1","1"',
    '1',
    '"01"',
    '"-1"',
    '"1.0"',
    '"a"',
    '""',
    '"1',
    '"2147483648"',
    '"99999999999999999999"',
  ])('`%s` is invalid_request', (header) => {
    expect(() => parseIfMatch(header)).toThrow(INVALID);
  });

  test('no header asks for none', () => {
    expect(parseIfMatch(undefined)).toBeUndefined();
  });
});

describe('prefer', () => {
  test.each([
    ['wait=25', 25],
    ['WAIT = 0', 0],
    ['wait="5"', 5],
    ['respond-async, wait=10; x=y', 10],
    ['wait=1, wait=2', 1],
    ['wait=999999', 999_999],
  ])('`%s` asks for a wait', (header, seconds) => {
    expect(parsePrefer(header)).toBe(seconds);
  });

  test.each(['wait=', 'wait=x', 'wait=-1', 'wait=1.5', 'wait="1', 'wait=9999999'])(
    '`%s` is invalid_request',
    (header) => {
      expect(() => parsePrefer(header)).toThrow(INVALID);
    },
  );

  test.each([undefined, '', 'respond-async', 'await=1', 'wait', 'x=1; wait=2'])(
    '`%s` asks for no wait',
    (header) => {
      expect(parsePrefer(header)).toBeUndefined();
    },
  );
});
