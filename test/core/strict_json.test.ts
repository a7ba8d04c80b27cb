import { describe, expect, it } from 'vitest';
import {
  JSON_LEVELS_MAX,
  JSON_MEMBERS_MAX,
  parseStrictJson,
  StrictJsonError,
  type StrictJsonIssue,
} from '../../src/core/strict_json.ts';

function issuesOf(input: string | Uint8Array): StrictJsonIssue[] {
  try {
    parseStrictJson(input);
  } catch (error) {
    if (error instanceof StrictJsonError) {
      return error.issues;
    }
    throw error;
  }
  return [];
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

function withMembers(count: number): string {
  return `{${Array.from({ length: count }, (_, index) => `"m${index}":0`).join(',')}}`;
}

describe('strict json', () => {
  it('reads every kind of value as JSON.parse does', () => {
    const text = ' {"a" : [1, -2.5e3, true, false, null, "x\\n\\u00e9😀", {}, []], "b": {"c": ""}}\r\n\t';
    expect(parseStrictJson(text)).toStrictEqual(JSON.parse(text));
    expect(parseStrictJson(new TextEncoder().encode(text))).toStrictEqual(JSON.parse(text));
  });

  it('reads members that are named like properties of every object as plain members', () => {
    const text = '{"constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":4}';
    expect(parseStrictJson(text)).toStrictEqual(JSON.parse(text));
  });

  it.each([
    ['the second of two equal members', '{"amount":1,"amount":2}', '/amount'],
    ['equal values too', '{"a":1,"a":1}', '/a'],
    ['a name that is equal after unescaping', '{"a":1,"\\u0061":2}', '/a'],
    ['the empty name', '{"":1,"":2}', '/'],
    ['a nested one, by pointer', '{"x":[0,{"a/b~c":1,"a/b~c":2}]}', '/x/1/a~1b~0c'],
  ])('refuses duplicate members: %s', (_, text, pointer) => {
    expect(issuesOf(text)).toStrictEqual([{ pointer, reason: 'duplicate_member' }]);
  });

  it('tells names apart that differ only by normalisation', () => {
    expect(Object.keys(parseStrictJson('{"e\\u0301":1,"\\u00e9":2}') as object)).toHaveLength(2);
  });

  it.each(['__proto__', '__entity', '__extn', '__expr'])(
    'refuses the reserved member %s, escaped too',
    (name) => {
      const escaped = name.replaceAll('_', '\\u005f');
      expect(issuesOf(`{"a":{"${name}":1}}`)).toStrictEqual([
        { pointer: `/a/${name}`, reason: 'reserved_member' },
      ]);
      expect(issuesOf(`{"a":{"${escaped}":{}}}`)).toStrictEqual([
        { pointer: `/a/${name}`, reason: 'reserved_member' },
      ]);
      expect(issuesOf(`{"a":"${name}"}`)).toStrictEqual([]);
    },
  );

  it.each([
    ['an escaped high half', '{"a":["\\ud800"]}', '/a/0'],
    ['an escaped low half', '{"a":["\\udc00"]}', '/a/0'],
    ['halves in the wrong order', '["\\udc00\\ud800"]', '/0'],
    ['a plain half', '["\ud800"]', '/0'],
    ['a plain half before an escaped one of the wrong kind', '["\ud800\\ud800"]', '/0'],
    ['a name, with the pointer of its object', '{"a":{"\\ud800":1}}', '/a'],
  ])('refuses a lone surrogate: %s', (_, text, pointer) => {
    expect(issuesOf(text)).toStrictEqual([{ pointer, reason: 'lone_surrogate' }]);
  });

  it.each(['"\\ud83d\\ude00"', '"😀"', '"\ud83d\\ude00"'])(
    'accepts a surrogate pair however written: %s',
    (text) => {
      expect(parseStrictJson(text)).toBe('😀');
    },
  );

  it.each([
    '0.10',
    '1e2',
    '1.0',
    '-0',
    '-0.0e9',
    '0e999999999999999999999',
    '100000000000000000000000e-23',
    '9007199254740991',
    '9007199254740992',
    '-9007199254740992',
    '1e21',
    '1000000000000000000000',
    '1e23',
    '5e-324',
    '1.7976931348623157e308',
    '295147905179352830000',
    '0.000001',
    '1E-7',
    `0.${'0'.repeat(100_000)}1e100001`,
  ])('accepts a number that its canonical form denotes exactly: %s', (text) => {
    expect(issuesOf(`{"n":${text}}`)).toStrictEqual([]);
    expect(parseStrictJson(text)).toBe(Number(text));
  });

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1.00000000000000000001',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1e400',
    '1e-400',
    '4.9e-324',
    '1e999999999999999999999',
    '1e-999999999999999999999',
    '1.7976931348623157001e308',
    '295147905179352825856',
    '100000000000000000000001',
    `1${'0'.repeat(30)}1`,
  ])('refuses a number that its canonical form does not denote: %s', (text) => {
    expect(issuesOf(`{"a":[0,${text}]}`)).toStrictEqual([{ pointer: '/a/1', reason: 'inexact_number' }]);
  });

  it('accepts 64 levels and refuses 65', () => {
    expect(JSON_LEVELS_MAX).toBe(64);
    expect(issuesOf(nested(64))).toStrictEqual([]);
    expect(issuesOf(nested(65))).toStrictEqual([{ pointer: '/0'.repeat(64), reason: 'too_deep' }]);
    expect(issuesOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toStrictEqual([
      { pointer: '/a'.repeat(64), reason: 'too_deep' },
    ]);
    expect(issuesOf(`[${Array(100).fill('[]').join()}]`)).toStrictEqual([]);
  });

  it('accepts 10,000 members in all objects together and refuses one more', () => {
    expect(JSON_MEMBERS_MAX).toBe(10_000);
    expect(issuesOf(withMembers(10_000))).toStrictEqual([]);
    expect(issuesOf(withMembers(10_001))).toStrictEqual([{ pointer: '/m10000', reason: 'too_many_members' }]);
    const twoObjects = `[${withMembers(5_000)},${withMembers(5_001)}]`;
    expect(issuesOf(twoObjects)).toStrictEqual([{ pointer: '/1/m5000', reason: 'too_many_members' }]);
  });

  it('does not count elements of arrays as members', () => {
    expect(issuesOf(`[${Array(20_000).fill('0').join()}]`)).toStrictEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['a byte order mark', '\ufeff{}'],
    ['a trailing comma', '{"a":1,}'],
    ['a comment', '{"a":1/*c*/}'],
    ['two values', '{} {}'],
    ['a leading zero', '[01]'],
    ['a plus sign', '[+1]'],
    ['NaN', '[NaN]'],
    ['a raw control character', '["\u0000"]'],
    ['an unknown escape', '["\\x41"]'],
    ['an escape that is cut off', '["\\u12"]'],
    ['a backslash at the end', '["\\'],
    ['a string that does not end', '"abc'],
    ['a name without quotes', '{a:1}'],
    ['an object that does not end', '{"a":1'],
    ['white space that is none in JSON', '[\u00a01]'],
  ])('refuses as syntax: %s', (_, text) => {
    expect(issuesOf(text)).toStrictEqual([{ pointer: '', reason: 'syntax' }]);
  });

  it('refuses a byte order mark in bytes as well', () => {
    expect(issuesOf(Buffer.from('efbbbf7b7d', 'hex'))).toStrictEqual([{ pointer: '', reason: 'syntax' }]);
  });

  it.each([
    ['a stray byte', '5b22ff225d'],
    ['an overlong form', '5b22c0af225d'],
    ['an encoded surrogate', '5b22eda080225d'],
    ['a sequence cut off', '5b22e0ff225d'],
    ['UTF-16', 'fffe5b005d00'],
  ])('refuses as invalid UTF-8: %s', (_, hex) => {
    expect(issuesOf(Buffer.from(hex, 'hex'))).toStrictEqual([{ pointer: '', reason: 'invalid_utf8' }]);
  });

  it('reports the first fault of several', () => {
    expect(issuesOf('{"a":1,"a":2,"b":1e400,')).toStrictEqual([
      { pointer: '/a', reason: 'duplicate_member' },
    ]);
  });

  it.each([
    ['10,000 levels', '['.repeat(10_000), 'too_deep'],
    ['10 MB of opening braces', '{"a":'.repeat(2_000_000), 'too_deep'],
    ['a 10 MB string that does not end', `"${'a'.repeat(10_000_000)}`, 'syntax'],
    ['a 10 MB string of escapes cut off', `"${'\\u0061'.repeat(1_700_000)}`, 'syntax'],
    ['a number of 10 MB', `1${'0'.repeat(10_000_000)}1`, 'inexact_number'],
    ['a fraction of 10 MB', `0.${'10'.repeat(5_000_000)}`, 'inexact_number'],
    ['10 MB of white space', ' '.repeat(10_000_000), 'syntax'],
    ['10 MB of members', `{${'"a":1,'.repeat(1_700_000)}}`, 'duplicate_member'],
  ] as const)(
    'answers in linear time and bounded stack: %s',
    (_, text, reason) => {
      const start = performance.now();
      expect(issuesOf(text).map((issue) => issue.reason)).toStrictEqual([reason]);
      // Generous for a loaded machine; quadratic work on 10 MB would take minutes.
      expect(performance.now() - start).toBeLessThan(10_000);
    },
    30_000,
  );
});
