import { describe, expect, it } from 'vitest';
import { CANONICAL_LEVELS_MAX, canonicalize } from '../../src/core/canonical_json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import type { JsonValue } from '../../src/core/json.ts';
import { parseStrictJson } from '../../src/core/strict_json.ts';
import { doubleFromHex, readJsonVector, readVector } from './vectors.ts';

interface EdgeCase {
  name: string;
  input: string;
  expect: 'canonical' | 'reject';
  output?: string;
  sha256_of_output?: string;
}
interface EdgeCases {
  cases: EdgeCase[];
  byte_cases: { name: string; input_base64: string }[];
}

const edge = readJsonVector<EdgeCases>('jcs-rfc8785/edge-cases.json');

/**
 * Where the rule on exact numbers departs from the file's I-JSON reading, each with the reason. The file refuses
 * every integer beyond 2^53 - 1; the rule here refuses a number whose canonical form denotes another number.
 */
const ACCEPTED_HERE: Record<string, string> = {
  '2^53 as an integer literal': 'the canonical form is the number as written',
  '-(2^53)': 'the canonical form is the number as written',
};
const REFUSED_HERE: Record<string, string> = {
  'number underflow': 'inexact_number', // 1e-999 would become 0
  'trailing digits lost': 'inexact_number', // 1.000000000000000005 would become 1
  'RFC sample numbers': 'inexact_number', // 333333333.33333329 would become 333333333.3333333
  'prototype-named keys': 'reserved_member', // __proto__
};

describe('canonical json (RFC 8785)', () => {
  it.each(['arrays', 'french', 'structures', 'unicode', 'values', 'weird'])(
    'gives the output of the reference document %s to the byte',
    (name) => {
      const value = JSON.parse(readVector(`jcs-rfc8785/input/${name}.json`).toString('utf8')) as JsonValue;
      const bytes = Buffer.from(canonicalize(value));
      const hex = readVector(`jcs-rfc8785/outhex/${name}.txt`).toString('latin1').replaceAll(/\s/g, '');
      expect(bytes.equals(readVector(`jcs-rfc8785/output/${name}.json`))).toBe(true);
      expect(bytes.toString('hex')).toBe(hex);
    },
  );

  it.each(['arrays', 'french', 'structures', 'unicode', 'weird'])(
    'gives the same for the reference document %s read strictly',
    (name) => {
      const value = parseStrictJson(readVector(`jcs-rfc8785/input/${name}.json`));
      expect(canonicalize(value)).toBe(readVector(`jcs-rfc8785/output/${name}.json`).toString('utf8'));
    },
  );

  it('has a strict reader that refuses the reference document values, which writes 333333333.33333329', () => {
    expect(() => parseStrictJson(readVector('jcs-rfc8785/input/values.json'))).toThrow(
      'inexact_number at `/numbers/0`',
    );
  });

  it('writes the first 10,000 ES6 reference numbers as given', () => {
    const lines = readVector('jcs-rfc8785/es6-numbers-first-10000.txt')
      .toString('latin1')
      .trimEnd()
      .split('\n');
    const wrong = lines.filter((line) => {
      const [hex = '', expected = ''] = line.split(',');
      return canonicalize(doubleFromHex(hex)) !== expected || parseStrictJson(expected) !== Number(expected);
    });
    expect(lines).toHaveLength(10_000);
    expect(wrong).toStrictEqual([]);
  });

  it.each(
    readJsonVector<{ cases: { ieee754_hex: string; expected: string | null }[] }>(
      'jcs-rfc8785/rfc8785-appendix-b-numbers.json',
    ).cases,
  )('writes $ieee754_hex of appendix B as $expected, or refuses it', ({ ieee754_hex, expected }) => {
    const value = doubleFromHex(ieee754_hex);
    if (expected === null) {
      expect(() => canonicalize(value)).toThrow(TypeError);
    } else {
      expect(canonicalize(value)).toBe(expected);
    }
  });

  it.each(edge.cases)('edge case: $name', (vector) => {
    const refusedFor = REFUSED_HERE[vector.name];
    if (refusedFor !== undefined) {
      expect(vector.expect).toBe('canonical');
      expect(() => parseStrictJson(vector.input)).toThrow(refusedFor);
      expect(canonicalize(JSON.parse(vector.input))).toBe(vector.output);
    } else if (ACCEPTED_HERE[vector.name] !== undefined) {
      expect(vector.expect).toBe('reject');
      expect(canonicalize(parseStrictJson(vector.input))).toBe(vector.input);
    } else if (vector.expect === 'reject') {
      expect(() => parseStrictJson(vector.input)).toThrow('text is not strict json');
    } else {
      const text = canonicalize(parseStrictJson(vector.input));
      expect(text).toBe(vector.output);
      expect(sha256Hex(text)).toBe(vector.sha256_of_output);
    }
  });

  it.each(edge.byte_cases)('byte edge case is refused: $name', ({ input_base64 }) => {
    expect(() => parseStrictJson(Buffer.from(input_base64, 'base64'))).toThrow('invalid_utf8');
  });

  it('writes 500 nested arrays back unchanged, deeper than a text may be', () => {
    const text = '['.repeat(500) + ']'.repeat(500);
    expect(canonicalize(JSON.parse(text))).toBe(text);
  });

  it('refuses a cycle and more than 1,000 levels with a TypeError, never a stack overflow', () => {
    const cycle: JsonValue[] = [];
    cycle.push(cycle);
    const deep = (levels: number): JsonValue => JSON.parse('{"a":'.repeat(levels) + 1 + '}'.repeat(levels));
    expect(() => canonicalize(cycle)).toThrow(TypeError);
    expect(() => canonicalize(deep(CANONICAL_LEVELS_MAX + 1))).toThrow(TypeError);
    expect(() => canonicalize(deep(5_000))).toThrow(TypeError);
    expect(JSON.parse(canonicalize(deep(CANONICAL_LEVELS_MAX)))).toHaveProperty('a.a.a');
  });

  it('sorts __proto__, integer-like and astral names by UTF-16 code units', () => {
    const value: JsonValue = JSON.parse('{"\ufb33":1,"\ud83d\ude00":2,"10":3,"9":4,"__proto__":5,"":6}');
    expect(canonicalize(value)).toBe('{"":6,"10":3,"9":4,"__proto__":5,"😀":2,"\ufb33":1}');
  });

  it.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['an infinity', [Number.NEGATIVE_INFINITY]],
    ['a lone surrogate in a string', ['\ud800']],
    ['a lone surrogate beside a quote', '"\udc00'],
    ['a lone surrogate in a name', { '\udfff': 1 }],
    ['undefined', undefined],
    ['a member that is undefined', { a: undefined }],
    ['a hole', new Array(1)],
    ['a bigint', 1n],
    ['a symbol', [Symbol('s')]],
    ['a function', { f: () => 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['bytes', new Uint8Array(1)],
    ['a boxed string', Object('text')],
    ['an instance of a class', new (class Thing {})()],
  ])('refuses what is no json value with a TypeError: %s', (_, value) => {
    expect(() => canonicalize(value as JsonValue)).toThrow(TypeError);
  });

  it('never calls toJSON', () => {
    const value = { toJSON: 1, a: { toJSON: null } };
    expect(canonicalize(value)).toBe('{"a":{"toJSON":null},"toJSON":1}');
  });

  it('writes strings of ten million characters', () => {
    const text = `${'a'.repeat(10_000_000)}"`;
    expect(canonicalize(text)).toHaveLength(10_000_004);
  });
});
