import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.ts';
import { quoteArgv } from '../../src/core/quote_argv.ts';
import { buildPolicySet } from './policy_sets.ts';
import { registration, request } from './support.ts';

const SCOPE = '(principal, action == Aegis::Action::"t.a", resource)';

function decide(properties: JsonObject, parameters: JsonObject, condition = 'true', more: JsonObject = {}) {
  const set = buildPolicySet({
    policies: { p: `@id("p") permit ${SCOPE} when { ${condition} };` },
    tools: [registration('t', 'a', { parameters_schema: { type: 'object', properties, ...more } })],
  });
  return set.decide(request('t', 'a', parameters));
}

describe('a parameter that does not fit is denied by `parameters`, with its place and never its value', () => {
  const string = { type: 'string' };
  const nested = {
    type: 'object',
    properties: { b: { type: 'array', items: { type: 'object', properties: { c: string } } } },
  };
  const bad: [string, JsonObject, JsonObject, string][] = [
    ['of another type', { x: { type: 'integer' } }, { x: 'SECRET' }, '`/x` must be integer'],
    ['undeclared', { x: string }, { 'a/b~c': 'SECRET' }, '`/a~1b~0c` is not declared. Declared are `x`'],
    [
      'undeclared deep inside',
      { a: nested },
      { a: { b: [{}, { d: 'SECRET' }] } },
      '`/a/b/1/d` is not declared',
    ],
    ['outside an enumeration', { x: { enum: ['p', 'q'] } }, { x: 'SECRET' }, '`/x` must be one of "p", "q"'],
    ['null where it is not allowed', { x: string }, { x: null }, '`/x` must be string'],
    [
      'not matching a pattern',
      { x: { ...string, pattern: '^a+$' } },
      { x: 'SECRET' },
      '`/x` must match pattern',
    ],
    ['an integer beyond 2^53', { x: { type: 'integer' } }, { x: 1e21 }, '`/x` must be an integer within'],
    [
      'a decimal beyond Cedar',
      { x: { type: 'number', multipleOf: 0.01 } },
      { x: 1e15 },
      '`/x` must be a number within',
    ],
    [
      'a decimal of five digits',
      { x: { type: 'number', multipleOf: 0.0001 } },
      { x: 0.1000000000000001 },
      'four decimals',
    ],
  ];

  test.each(bad)('%s', (_, properties, parameters, expected) => {
    const decision = decide(properties, parameters);

    expect(decision).toMatchObject({
      decision: 'deny',
      determiningPolicies: [],
      denial: { by: 'parameters', reason: decision.reason },
      reason: expect.stringContaining(expected),
    });
    expect(JSON.stringify(decision)).not.toContain('SECRET');
  });

  test('missing', () => {
    expect(decide({ x: string }, {}, 'true', { required: ['x'] }).reason).toContain('`/x` is required');
    expect(decide({ toString: string }, {}, 'true', { required: ['toString'] }).decision).toBe('deny');
  });

  test('named so that the name would hide in the reason', () => {
    const { reason } = decide({}, { [`\u202e\`${'x'.repeat(500)}`]: 1 });

    expect(reason.length).toBeLessThan(300);
    expect(reason).toContain('`/\ufffd\ufffdxxx');
  });

  test('undeclared beside combined branches, while what a branch declares is taken', () => {
    const branches = { anyOf: [{ required: ['x'] }, { properties: { y: string }, required: ['y'] }] };

    expect(decide({ x: string }, { x: 'a' }, 'true', branches).decision).toBe('allow');
    expect(decide({ x: string }, { y: 'a' }, 'true', branches).decision).toBe('allow');
    expect(decide({ x: string }, { x: 'a', z: 1 }, 'true', branches).reason).toContain(
      '`/z` is not declared',
    );
  });
});

describe('an object is open only where its schema says so', () => {
  test.each([
    [{ e: { type: 'object', additionalProperties: { type: 'string' } } }, { e: { LANG: 'C' } }],
    [{ e: { type: 'object', additionalProperties: true } }, { e: { any: [1, null] } }],
    [{ e: {} }, { e: { any: 'thing' } }],
  ] as [JsonObject, JsonObject][])('%j takes %j', (properties, parameters) => {
    expect(decide(properties, parameters).decision).toBe('allow');
  });
});

describe('what Cedar can hold is held', () => {
  test.each([
    [
      'an integer',
      { x: { type: 'integer' } },
      { x: 7 },
      'context.parameters has x && context.parameters.x == 7',
    ],
    [
      'a fraction of two decimals, as a decimal',
      { x: { type: 'number', multipleOf: 0.01 } },
      { x: 1.1 },
      'context.parameters has x && context.parameters.x == decimal("1.1")',
    ],
    [
      'a list of strings, as a set',
      { x: { type: 'array', items: { type: 'string' } } },
      { x: ['a', 'b', 'a'] },
      'context.parameters has x && context.parameters.x.containsAll(["a", "b"])',
    ],
    [
      'a closed object, as a record',
      { x: { type: 'object', properties: { y: { type: 'boolean' } }, required: ['y'] } },
      { x: { y: true } },
      'context.parameters has x && context.parameters.x.y',
    ],
    [
      'null, as an absent attribute',
      { x: { type: ['string', 'null'] } },
      { x: null },
      '!(context.parameters has x)',
    ],
  ] as [string, JsonObject, JsonObject, string][])('%s', (_, properties, parameters, condition) => {
    expect(decide(properties, parameters, condition).decision).toBe('allow');
  });
});

describe('what Cedar cannot hold', () => {
  const schemas: [string, JsonObject, JsonValue][] = [
    ['a number of any precision', { type: 'number' }, 0.123456789],
    ['a multiple of less than a ten-thousandth', { type: 'number', multipleOf: 0.00001 }, 0.00001],
    ['a multiple with more decimals', { type: 'number', multipleOf: 0.00015 }, 0.00015],
    ['an open object', { type: 'object', additionalProperties: true }, { a: null, b: 1.5 }],
    ['a union', { type: ['string', 'integer'] }, 'a'],
    ['branches', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 1],
    ['a list of anything', { type: 'array' }, [1, 'a', null]],
    ['a list with nulls', { type: 'array', items: { type: ['string', 'null'] } }, ['a', null]],
  ];

  test.each(schemas)('does not deny the call: %s', (_, schema, value) => {
    expect(decide({ x: schema }, { x: value }).decision).toBe('allow');
  });

  test.each(schemas)('is in no policy that loads: %s', (_, schema, value) => {
    expect(() => decide({ x: schema }, { x: value }, 'context.parameters.x == "a"')).toThrow(/parameters\.x/);
  });
});

test('each pattern of a tool holds for its own parameter alone', () => {
  const properties = { x: { type: 'string', pattern: '^a+$' }, y: { type: 'string', pattern: '^b+$' } };

  expect(decide(properties, { x: 'aa', y: 'bb' }).decision).toBe('allow');
  expect(decide(properties, { x: 'aa', y: 'aa' }).reason).toContain('`/y` must match pattern');
});

test('a pattern that makes a backtracking engine explode answers at once', () => {
  const pattern = '^(a+)+$';

  const decision = decide({ x: { type: 'string', pattern } }, { x: `${'a'.repeat(50_000)}!` });

  expect(decision.reason).toContain('must match pattern');
});

test('a tool without a schema shows no parameter to policy and is not denied for having them', () => {
  const policies = { p: `@id("p") permit ${SCOPE} when { context.parameters == {} };` };
  const set = buildPolicySet({ policies, tools: [registration('t', 'a')] });

  expect(set.decide(request('t', 'a', { anything: [1.5, null] })).decision).toBe('allow');
});

describe('the quoted form of an argument vector', () => {
  test.each([
    [['git', 'status'], 'git status'],
    [['a b', ''], "'a b' ''"],
    [["it's"], "'it'\\''s'"],
    [['$HOME', '*', '~', 'x;y', '-n', 'a=b@c%d+e:f,g./_'], "'$HOME' '*' '~' 'x;y' -n a=b@c%d+e:f,g./_"],
    [['é\n'], "'é\n'"],
  ])('%j is %s', (argv, quoted) => {
    expect(quoteArgv(argv)).toBe(quoted);
  });
});
