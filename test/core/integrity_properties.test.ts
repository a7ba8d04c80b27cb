import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../src/core/action.ts';
import { computeActionHash } from '../../src/core/action_hash.ts';
import { canonicalize } from '../../src/core/canonical_json.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { parseStrictJson, StrictJsonError } from '../../src/core/strict_json.ts';
import { readJsonVector } from './vectors.ts';

const RUNS = { numRuns: 300 };
const RESERVED = ['__proto__', '__entity', '__extn', '__expr'];

const text = fc.string({ unit: 'binary', maxLength: 12 });
const name = text.filter((candidate) => !RESERVED.includes(candidate));
const number = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));

const members = { maxKeys: 5, noNullPrototype: true } as const;

const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(name, tie('tree'), members),
  ),
}));
const object = fc.dictionary(name, tree, members);

/** The same value with the members of every object in reverse order of insertion. */
function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map(reversed);
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([member, inner]) => [member, reversed(inner)]),
    );
  }
  return value;
}

/** JSON text of a value with its members reversed: `reversed` cannot move integer-like names, text can. */
function reversedText(value: JsonValue): string {
  if (Array.isArray(value)) {
    return `[ ${value.map(reversedText).join(' , ')} ]`;
  }
  if (value !== null && typeof value === 'object') {
    const members = Object.keys(value).reverse();
    return `{\n${members.map((member) => `${JSON.stringify(member)} : ${reversedText(value[member] ?? null)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

function leavesOf(value: JsonValue, path: (string | number)[] = []): (string | number)[][] {
  if (value === null || typeof value !== 'object') {
    return [path];
  }
  return Object.entries(value).flatMap(([member, inner]) => leavesOf(inner, [...path, member]));
}

function withLeaf(value: JsonValue, path: readonly (string | number)[], replacement: JsonValue): JsonValue {
  const [head, ...rest] = path;
  if (head === undefined) {
    return replacement;
  }
  const copy = structuredClone(value) as Record<string | number, JsonValue>;
  copy[head] = withLeaf(copy[head] ?? null, rest, replacement);
  return copy as JsonValue;
}

function valueAt(value: JsonValue, path: readonly (string | number)[]): JsonValue {
  return path.reduce<JsonValue>((at, key) => (at as Record<string | number, JsonValue>)[key] ?? null, value);
}

function strictOrRefused(input: string): { value: JsonValue } | undefined {
  try {
    return { value: parseStrictJson(input) };
  } catch (error) {
    if (error instanceof StrictJsonError) {
      return undefined;
    }
    throw error;
  }
}

function parseOrRefused(input: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(input) };
  } catch {
    return undefined;
  }
}

describe('from text to hash, for any value', () => {
  it('canonical(parse(canonical(x))) is a fixed point', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const once = canonicalize(value);
        expect(canonicalize(parseStrictJson(once))).toBe(once);
        expect(canonicalize(parseStrictJson(Buffer.from(once)))).toBe(once);
      }),
      RUNS,
    );
  });

  it('any member order and white space give one hash', () => {
    fc.assert(
      fc.property(object, (parameters) => {
        const call: ToolCall = { tool: 't', action: 'a', resource: null, mutates_state: false, parameters };
        const backwards = reversed(parameters) as JsonObject;
        const reread = parseStrictJson(reversedText(parameters)) as JsonObject;
        expect(computeActionHash({ ...call, parameters: backwards })).toBe(computeActionHash(call));
        expect(computeActionHash({ ...call, parameters: reread })).toBe(computeActionHash(call));
      }),
      RUNS,
    );
  });

  it('any change of one leaf changes the hash', () => {
    fc.assert(
      fc.property(tree, leaf, fc.nat(), (value, replacement, pick) => {
        const leaves = leavesOf(value);
        fc.pre(leaves.length > 0);
        const path = leaves[pick % leaves.length] ?? [];
        // Minus zero is zero (RFC 8785 §3.2.2.3), so `===` says what a change is.
        fc.pre(valueAt(value, path) !== replacement);
        const changed = withLeaf(value, path, replacement);
        expect(sha256Hex(canonicalize(changed))).not.toBe(sha256Hex(canonicalize(value)));
      }),
      RUNS,
    );
  });

  it('the strict reader takes what JSON.stringify writes of such a value, as JSON.parse does', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 1, 4), (value, indent) => {
        const written = JSON.stringify(value, null, indent);
        expect(parseStrictJson(written)).toStrictEqual(JSON.parse(written));
      }),
      RUNS,
    );
  });

  it('the strict reader agrees with JSON.parse wherever it accepts, and refuses whatever JSON.parse refuses', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"', '\\', '\\u0061', '\\ud800', 'true', 'nul', 'null'],
      ...[
        '0',
        '-',
        '1',
        '.5',
        '.',
        'e',
        'e9',
        'E-400',
        '01',
        ' ',
        '\n',
        '\t',
        '\ufeff',
        '\u00a0',
        '__proto__',
        'é',
      ],
    );
    const soup = fc.array(token, { maxLength: 14 }).map((tokens) => tokens.join(''));
    const damaged = fc.tuple(tree, fc.nat(), fc.nat(3), token).map(([value, at, cut, inserted]) => {
      const written = JSON.stringify(value);
      const place = at % (written.length + 1);
      return written.slice(0, place) + inserted + written.slice(place + cut);
    });
    fc.assert(
      fc.property(fc.oneof(soup, damaged, fc.string()), (input) => {
        const strict = strictOrRefused(input);
        if (strict !== undefined) {
          expect(parseOrRefused(input)).toStrictEqual(strict);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('a decimal is accepted exactly when its canonical form is the same rational number', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 24 });
    const whole = digits.map((run) => run.replace(/^0+(?=\d)/, ''));
    fc.assert(
      fc.property(
        whole,
        fc.option(digits),
        fc.option(fc.integer({ min: -30, max: 30 })),
        (int, frac, exp) => {
          const written = int + (frac === null ? '' : `.${frac}`) + (exp === null ? '' : `e${exp}`);
          const exact = scaled(written) === scaled(String(Number(written)));
          expect(strictOrRefused(written) !== undefined).toBe(exact);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('naughty strings pass through reading, canonical form and hash unchanged', () => {
    const { strings } = readJsonVector<{ strings: string[] }>('unicode/big-list-of-naughty-strings.json');
    const canonical = canonicalize({ strings });
    expect(strings.length).toBeGreaterThan(400);
    expect(parseStrictJson(canonical)).toStrictEqual({ strings });
    expect(parseStrictJson(JSON.stringify(strings))).toStrictEqual(strings);
    expect(canonicalize(parseStrictJson(canonical))).toBe(canonical);
    expect(new Set(strings.map((naughty) => sha256Hex(canonicalize(naughty)))).size).toBe(
      new Set(strings).size,
    );
  });
});

/** The number a decimal text denotes, times 10^100, as a whole number: an oracle by another way. */
function scaled(decimal: string): bigint {
  const [mantissa = '', exponent = '0'] = decimal.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(100 + Number(exponent) - fraction.length);
}
