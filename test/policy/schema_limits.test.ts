import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { parseStrictJson } from '../../src/core/strict_json.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { buildPolicySet } from './policy_sets.ts';
import { registration, request } from './support.ts';

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});

function problemsOf(parameters_schema: JsonObject) {
  return buildRegistry([registration('t', 'a', { parameters_schema })]).problems;
}

function nested(depth: number): JsonObject {
  return depth === 1 ? { type: 'string' } : object({ a: nested(depth - 1) });
}

function manyProperties(count: number): JsonObject {
  return object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}])));
}

/** A schema of so many bytes in canonical form. */
function ofBytes(bytes: number): JsonObject {
  const bare = JSON.stringify(object({}, { description: '' })).length;
  return object({}, { description: 'é'.repeat((bytes - bare) / 2) });
}

describe('a schema is refused, at its place, that', () => {
  test.each<[string, JsonObject, string]>([
    ['refers to somewhere else', object({ x: { $ref: 'https://example.com/s' } }), '/properties/x/$ref'],
    ['refers to a file', object({ x: { $ref: 's.json#/x' } }), '/properties/x/$ref'],
    ['refers to nothing', object({ x: { $ref: '#/$defs/x' } }), '/properties/x/$ref'],
    [
      'refers to what is no schema',
      object({ x: { enum: [{ type: 'string' }] }, y: { $ref: '#/properties/x/enum/0' } }),
      '/properties/y/$ref',
    ],
    [
      'refers to an anchor',
      object({ x: { $ref: '#x' } }, { $defs: { x: { $anchor: 'x' } } }),
      '/$defs/x/$anchor',
    ],
    ['is dynamic', object({ x: { $dynamicRef: '#x' } }), '/properties/x/$dynamicRef'],
    ['refers to itself at once', { type: 'object', $ref: '#' }, ''],
    [
      'refers to itself in a circle',
      object(
        { x: { $ref: '#/$defs/a' } },
        { $defs: { a: { not: { $ref: '#/$defs/b' } }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      ),
      '/properties/x',
    ],
    ['takes values from the call', object({ x: { const: { $data: '1/y' } } }), '/properties/x/const'],
    ['has an unknown keyword', object({ x: { minLenght: 1 } }), '/properties/x/minLenght'],
    ['has a keyword of another draft', object({}, { dependencies: { a: ['b'] } }), '/dependencies'],
    [
      'is nullable in the way of another',
      object({ x: { type: 'string', nullable: true } }),
      '/properties/x/nullable',
    ],
    ['names itself deep inside', object({ x: { $id: 'x' } }), '/properties/x/$id'],
    ['has a schema that is none', object({ x: 'string' }), '/properties/x'],
    [
      'has a keyword with a value it cannot have',
      object({ x: { minLength: 'a' } }),
      '/properties/x/minLength',
    ],
    ['has a type that is none', object({ x: { type: 'text' } }), '/properties/x/type'],
    ['has a pattern that backtracks', object({ x: { pattern: '(a)\\1' } }), '/properties/x/pattern'],
    [
      'has a pattern that is too large',
      object({ x: { pattern: '(x{900}|y{900}){10}' } }),
      '/properties/x/pattern',
    ],
    [
      'has a name pattern that is too large',
      object({}, { patternProperties: { [`a{1,${'9'.repeat(3)}}`.repeat(12)]: {} } }),
      '/patternProperties',
    ],
  ])('%s', (_, schema, pointer) => {
    const [first] = problemsOf(schema);

    expect(first?.pointer).toMatch(new RegExp(`^/parameters_schema${pointer.replaceAll('$', '\\$')}`));
    expect(first?.help).toMatch(/\S/);
  });

  test.each([
    ['is nested deeper than 16', nested(16), nested(17), /too deep/],
    ['has more than 200 subschemas', manyProperties(199), manyProperties(200), /201 subschemas/],
    ['has more than 64 KiB', ofBytes(65_536), ofBytes(65_538), /65538 bytes/],
  ])('%s', (_, most, tooMuch, message) => {
    expect(problemsOf(most)).toEqual([]);
    expect(problemsOf(tooMuch)).toMatchObject([{ message: expect.stringMatching(message) }]);
  });

  test('the nearest keyword is told', () => {
    expect(problemsOf(object({ x: { minLenght: 1 } }))).toMatchObject([
      { help: 'Did you mean `minLength`?' },
    ]);
  });
});

describe('a schema is taken that', () => {
  test.each<[string, JsonObject]>([
    [
      'says its dialect and its name',
      object({}, { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x' }),
    ],
    [
      'refers to its own definitions',
      object({ x: { $ref: '#/$defs/a~1b' } }, { $defs: { 'a/b': { type: 'string' } } }),
    ],
    ['refers to itself further in', object({ next: { $ref: '#' } })],
    ['has annotations', object({ x: { title: 't', format: 'uri', examples: [{ $ref: 1 }], default: null } })],
  ])('%s', (_, schema) => {
    expect(problemsOf(schema)).toEqual([]);
  });

  test('refers to itself, and is checked as deep as it goes', () => {
    const set = setOf(object({ next: { $ref: '#' }, n: { type: 'integer' } }));

    expect(set.decide(request('t', 'a', { next: { next: { n: 1 } } })).decision).toBe('allow');
    expect(set.decide(request('t', 'a', { next: { next: { n: 'x' } } })).reason).toContain(
      '`/next/next/n` must be',
    );
  });
});

function setOf(parameters_schema: JsonObject) {
  return buildPolicySet({
    policies: { p: '@id("p") permit (principal, action == Aegis::Action::"t.a", resource);' },
    tools: [registration('t', 'a', { parameters_schema })],
  });
}

/** About the size of the largest body: 256 KiB. */
const BODY_BYTES = 260_000;
/** How many times as long as reading a body of this size the worst check of one may take; what grows is beyond hundreds. */
const RATIO_MAX = 25;

describe('no schema and no body make a check take long:', () => {
  const numbers = Array.from({ length: BODY_BYTES / 7 }, (_, index) => 100_000 + index);
  const texts = Array.from({ length: BODY_BYTES / 9 }, (_, index) => `a${100_000 + index}`);
  const empties = Array.from({ length: 10_000 }, () => ({}));
  const branches = (count: number, branch: JsonObject): JsonObject[] =>
    Array.from({ length: count }, () => branch);

  /** Two references to the next at every step: 2^depth visits. */
  function doubling(depth: number, keyword: 'allOf' | 'anyOf', last: JsonObject): JsonObject {
    const steps = Array.from({ length: depth }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { [keyword]: [next, next] }];
    });
    const $defs = Object.fromEntries([...steps, [`d${depth}`, last]]);
    return object({ x: { $ref: '#/$defs/d0' } }, { $defs });
  }

  function deep(levels: number): JsonObject {
    return levels === 0 ? { end: 1 } : { x: deep(levels - 1) };
  }

  const twice = (keyword: string): JsonObject => ({
    type: 'object',
    [keyword]: branches(2, { properties: { x: { $ref: '#' } } }),
    additionalProperties: true,
  });
  const ambiguous = 'ab'.repeat(BODY_BYTES / 2);

  const reading = timeReading(numbers);

  const worst: [string, JsonObject, JsonValue][] = [
    ['unique items that are numbers', object({ x: { type: 'array', uniqueItems: true } }), numbers],
    [
      'unique items that are objects',
      object({ x: { type: 'array', uniqueItems: true } }),
      Array.from({ length: 9_000 }, (_, index) => ({ a: index })),
    ],
    [
      'unique items that are lists',
      object({ x: { type: 'array', uniqueItems: true } }),
      Array.from({ length: 20_000 }, (_, index) => [[index]]),
    ],
    [
      'an enumeration of objects in many branches',
      object({ x: { anyOf: branches(190, { enum: [{}, { a: 1 }] }) } }),
      { x: texts },
    ],
    [
      'a large enumeration of every item',
      object({ x: { items: { enum: texts.slice(0, 6_000).toReversed() } } }),
      texts,
    ],
    [
      'a large enumeration of numbers',
      object({ x: { items: { enum: numbers.slice(0, 9_000).toReversed() } } }),
      numbers,
    ],
    [
      '`contains` in `contains`',
      object({ x: { contains: { contains: { contains: { const: 1 } } } } }),
      [[numbers]],
    ],
    [
      'many branches of every item',
      object({ x: { items: { anyOf: branches(190, { type: 'string' }) } } }),
      numbers,
    ],
    ['many lengths of one text', object({ x: { anyOf: branches(190, { maxLength: 1 }) } }), ambiguous],
    ['branches doubled at the same place, all failing', doubling(60, 'anyOf', { type: 'integer' }), 'a'],
    ['branches doubled at the same place, all fitting', doubling(60, 'allOf', { type: 'string' }), 'a'],
    ['doubled lengths of one text', doubling(60, 'anyOf', { maxLength: 1 }), ambiguous],
    ['doubled patterns', doubling(60, 'anyOf', { pattern: '^[ab]{0,900}$' }), ambiguous],
    ['a pattern of many states', object({ x: { pattern: '^[ab]*[ab].{900}[cd]' } }), ambiguous],
    ['patterns of names', object({ x: { patternProperties: namePatterns(150) } }), longNames(9_000)],
    ['a long list of dependents', object({ x: { items: { dependentRequired: dependents(190) } } }), empties],
    [
      'a large constant of every item',
      object({ x: { items: { const: texts.slice(0, 6_000) } } }),
      [texts, texts],
    ],
  ];

  test.each(worst)('%s', (_, schema, x) => {
    const taken = timeCheck(setOf(schema), x);

    expect(taken / reading).toBeLessThan(RATIO_MAX);
  });

  test.each([['allOf'], ['anyOf'], ['oneOf']])('%s that visits every level twice', (keyword) => {
    const taken = timeCheck(setOf(twice(keyword)), deep(60));

    expect(taken / reading).toBeLessThan(RATIO_MAX);
  });

  test('what is given up is denied by `parameters`, with the way out, and the next check is unharmed', () => {
    const set = setOf(doubling(60, 'allOf', { type: 'string' }));
    const other = setOf(object({ x: { type: 'string' } }));

    for (const _ of [1, 2]) {
      expect(set.decide(request('t', 'a', { x: 'a' }))).toMatchObject({
        decision: 'deny',
        denial: { by: 'parameters' },
        reason: expect.stringContaining('take too long to check'),
      });
      expect(other.decide(request('t', 'a', { x: 'a' })).decision).toBe('allow');
    }
  });

  test('what is large and plain is not given up', () => {
    const set = setOf(
      object({
        ids: { type: 'array', items: { type: 'integer', minimum: 1 }, uniqueItems: true },
        text: { type: 'string', maxLength: 300_000, pattern: '^[a-z]' },
        digests: { type: 'object', additionalProperties: { type: 'string', pattern: '^[0-9a-f]{64}$' } },
      }),
    );
    const digests = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`f${index}`, 'a'.repeat(64)]),
    );

    expect(set.decide(request('t', 'a', { ids: numbers })).reason).toBe('policy `p` applies');
    expect(set.decide(request('t', 'a', { text: ambiguous })).reason).toBe('policy `p` applies');
    expect(set.decide(request('t', 'a', { digests })).reason).toBe('policy `p` applies');
  });

  function namePatterns(count: number): JsonObject {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`(a|b)*${index}$`, {}]));
  }

  function longNames(count: number): JsonObject {
    return Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`${'ab'.repeat(10)}${index}x`, 1]),
    );
  }

  function dependents(count: number): JsonObject {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, ['q']]));
  }
});

/** Milliseconds of a decision on a call with the parameter. */
function timeCheck(set: ReturnType<typeof setOf>, x: JsonValue): number {
  const call = request('t', 'a', { x });
  return time(() => set.decide(call));
}

/** Milliseconds of reading a body with the parameter. */
function timeReading(x: JsonValue): number {
  const text = JSON.stringify({ x });
  return time(() => parseStrictJson(text));
}

/** The fastest of three runs, after one to warm up. */
function time(run: () => unknown): number {
  run();
  const times = [1, 2, 3].map(() => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}
