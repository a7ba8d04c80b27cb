import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizeRoute } from '../../src/http/routes/authorize.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { expectProblem, seen } from './refusal.ts';
import { BODY_ROUTES, callRoute, digestTables, startWorld, validBody, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const bytes = (...values: number[]) => Uint8Array.from(values);
const KIB = 1024;
const nested = (levels: number, open: string, middle: string, close: string) =>
  open.repeat(levels) + middle + close.repeat(levels);

/** What is no strict JSON, with the reason the contract has for it. */
const NOT_STRICT_JSON: [what: string, body: string | Uint8Array<ArrayBuffer>, reason: string][] = [
  ['a word', 'hello', 'syntax'],
  ['white space alone', ' ', 'syntax'],
  ['an open brace', '{', 'syntax'],
  ['a cut string', '{"reason":"abc', 'syntax'],
  ['a trailing comma', '{"reason":"x",}', 'syntax'],
  ['single quotes', "{'reason':'x'}", 'syntax'],
  ['a comment', '{/* x */}', 'syntax'],
  ['NaN', '{"amount":NaN}', 'syntax'],
  ['Infinity', '{"amount":-Infinity}', 'syntax'],
  ['a leading zero', '{"amount":007}', 'syntax'],
  ['a leading plus', '{"amount":+1}', 'syntax'],
  ['hexadecimal', '{"amount":0x10}', 'syntax'],
  ['two values', '{}{}', 'syntax'],
  ['a form', 'amount=1&currency=usd', 'syntax'],
  ['a plain line break in a string', '{"reason":"a\nb"}', 'syntax'],
  ['a plain NUL in a string', '{"reason":"a\0b"}', 'syntax'],
  ['a NUL after the value', '{}\0', 'syntax'],
  ['a byte order mark', bytes(0xef, 0xbb, 0xbf, 0x7b, 0x7d), 'syntax'],
  ['utf-16', new Uint8Array(Buffer.from('\ufeff{}', 'utf16le')), 'invalid_utf8'],
  ['an overlong form', bytes(0x22, 0xc0, 0x80, 0x22), 'invalid_utf8'],
  ['an encoded surrogate', bytes(0x22, 0xed, 0xa0, 0x80, 0x22), 'invalid_utf8'],
  ['random bytes', bytes(0xff, 0xfe, 0x00, 0x9f, 0x80), 'invalid_utf8'],
  ['a duplicate amount', '{"amount":1,"amount":100000}', 'duplicate_member'],
  ['an escaped duplicate', '{"amount":1,"\\u0061mount":2}', 'duplicate_member'],
  ['2^53 + 1', '{"amount":9007199254740993}', 'inexact_number'],
  ['1e400', '{"amount":1e400}', 'inexact_number'],
  ['-1e400', '{"amount":-1e400}', 'inexact_number'],
  ['1e-400', '{"amount":1e-400}', 'inexact_number'],
  ['a hair over one', '{"amount":1.00000000000000000001}', 'inexact_number'],
  ['a lone high surrogate', '{"reason":"\\ud800"}', 'lone_surrogate'],
  ['a lone low surrogate', '{"reason":"\\udc00x"}', 'lone_surrogate'],
  ['a reversed pair', '{"reason":"\\udc00\\ud800"}', 'lone_surrogate'],
  ['a lone surrogate in a name', '{"\\ud800":1}', 'lone_surrogate'],
  ['10,000 arrays', nested(10_000, '[', '', ']'), 'too_deep'],
  ['10,000 objects', nested(10_000, '{"a":', '1', '}'), 'too_deep'],
  ['100,000 open brackets', '['.repeat(100_000), 'too_deep'],
  ['65 levels', nested(65, '[', '', ']'), 'too_deep'],
  [
    '10,001 members',
    `{${Array.from({ length: 10_001 }, (_, at) => `"m${at}":0`).join()}}`,
    'too_many_members',
  ],
  ['__proto__', '{"__proto__":{"admin":true}}', 'reserved_member'],
  ['an escaped __proto__', '{"\\u005f_proto__":{}}', 'reserved_member'],
  ['a deep __proto__', '{"context":{"__proto__":null}}', 'reserved_member'],
  ['__entity', '{"a":{"__entity":{"type":"Agent","id":"x"}}}', 'reserved_member'],
];

const NO_OBJECT: [what: string, body: string][] = [
  ['null', 'null'],
  ['a number', '1'],
  ['a string', '"x"'],
  ['true', 'true'],
  ['an array', '[]'],
  ['an array of objects', '[{}]'],
];

const OTHER_MEDIA: [what: string, headers: Record<string, string>][] = [
  ['text/plain', { 'content-type': 'text/plain' }],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
  ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['xml', { 'content-type': 'application/xml' }],
  ['json-like', { 'content-type': 'application/jsonp' }],
  ['merge patch', { 'content-type': 'application/merge-patch+json' }],
  ['problem details', { 'content-type': 'application/problem+json' }],
  ['nonsense', { 'content-type': ';;;' }],
  ['utf-16', { 'content-type': 'application/json; charset=utf-16' }],
  ['latin 1', { 'content-type': 'application/json;charset=iso-8859-1' }],
  ['two types', { 'content-type': 'application/json, text/plain' }],
  ['gzip', { 'content-encoding': 'gzip' }],
  ['brotli', { 'content-encoding': 'br' }],
  ['nested codings', { 'content-encoding': 'identity, gzip' }],
];

describe.each(BODY_ROUTES.map((route) => ({ name: route.operationId, route })))('$name', ({ route }) => {
  it('refuses every body that is not strict json, says why, and writes nothing', async () => {
    const before = await digestTables(world);
    for (const [what, rawBody, reason] of NOT_STRICT_JSON) {
      const answer = await callRoute(world, route, { options: { rawBody } });
      expect(expectProblem(seen(answer), what), what).toBe('invalid_json');
      expect(answer.body.errors, what).toEqual([{ pointer: expect.any(String), reason }]);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses json that is no object', async () => {
    const before = await digestTables(world);
    for (const [what, rawBody] of NO_OBJECT) {
      const answer = await callRoute(world, route, { options: { rawBody } });
      expect(expectProblem(seen(answer), what), what).toBe('invalid_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses a body over the limit, announced or chunked', async () => {
    const before = await digestTables(world);
    for (const size of [(route.bodyBytesMax ?? 256 * KIB) + 1, 10 * KIB * KIB]) {
      const rawBody = `{"reason":"${'a'.repeat(size)}"}`;
      const announced = await callRoute(world, route, { options: { rawBody } });
      expect(expectProblem(seen(announced), `${size} bytes`)).toBe('body_too_large');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses every other media type and coding, and names the remedy', async () => {
    const before = await digestTables(world);
    const rawBody = JSON.stringify(validBody(route));
    for (const [what, headers] of OTHER_MEDIA) {
      const answer = await callRoute(world, route, { options: { rawBody, headers } });
      expect(expectProblem(seen(answer), what), what).toBe('unsupported_media_type');
      expect(answer.body.detail).toContain('curl --json');
    }
    const gzipped = new Uint8Array(gzipSync(rawBody));
    const answer = await callRoute(world, route, { options: { rawBody: gzipped } });
    expect(expectProblem(seen(answer), 'undeclared gzip')).toBe('invalid_json');
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses an empty body where one is needed, and reads none as {} where it is not', async () => {
    const before = await digestTables(world);
    const empty = await callRoute(world, route, { options: { rawBody: '' }, path: nowhere(route.path) });
    const absent = await callRoute(world, route, { path: nowhere(route.path) });
    for (const answer of [empty, absent]) {
      const code = expectProblem(seen(answer), 'no body');
      // Read as `{}`, a call on what is not there finds nothing; a first passkey lacks its code.
      const isOfSomething = route.path.includes(':');
      expect(code).toBe(route.bodyOptional && isOfSomething ? 'not_found' : 'invalid_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses members of an object that every object inherits', async () => {
    const before = await digestTables(world);
    for (const name of ['constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', 'length', '']) {
      const answer = await callRoute(world, route, { body: { ...(validBody(route) as object), [name]: {} } });
      expect(expectProblem(seen(answer), name), name).toBe('invalid_request');
      expect(answer.body.errors, name).toContainEqual({
        pointer: `/${name}`,
        reason: 'is not a known member',
      });
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

function nowhere(path: string): string {
  return path.replaceAll(/:[a-z_]+/g, 'apr_00000000-0000-7000-8000-000000000000');
}

/** Routes that change something and are told all by their path. */
const BODILESS = [
  'freezeAgent',
  'unfreezeAgent',
  'resumeAgent',
  'resumeSession',
  'activateRevision',
  'createEnrolmentCode',
  'rotateWebhookSecret',
  'redeliverWebhookDelivery',
];

it('every route that can take a body is one of the routes of this battery', () => {
  const names = ROUTES.filter(({ method, rawBodyTypes }) => ['post', 'put'].includes(method) && !rawBodyTypes)
    .map(({ operationId }) => operationId)
    .filter((name) => !BODILESS.includes(name));
  expect(BODY_ROUTES.map(({ operationId }) => operationId)).toEqual(names);
});

describe('a tool call', () => {
  const call = (parameters: string) =>
    `{"tool_call":{"tool":"stripe","action":"refund","mutates_state":true,"parameters":${parameters}},"context":{"source_trust":"trusted_internal"}}`;

  it('with a duplicate or inexact amount is refused at its very place, and stores no decision', async () => {
    const before = await digestTables(world);
    for (const [parameters, reason] of [
      ['{"amount":100,"amount":100000,"currency":"usd"}', 'duplicate_member'],
      ['{"amount":9007199254740993,"currency":"usd"}', 'inexact_number'],
      ['{"amount":1e400,"currency":"usd"}', 'inexact_number'],
    ] as const) {
      const answer = await callRoute(world, authorizeRoute, { options: { rawBody: call(parameters) } });
      expect(expectProblem(seen(answer), parameters)).toBe('invalid_json');
      expect(answer.body.errors).toEqual([{ pointer: '/tool_call/parameters/amount', reason }]);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('with an amount written otherwise is the same call', async () => {
    const hashes = new Set<string>();
    for (const amount of ['100', '1e2', '1E2', '1E+2', '100.0', '1000e-1']) {
      const answer = await callRoute(world, authorizeRoute, {
        options: { rawBody: call(`{"amount":${amount},"currency":"usd"}`) },
      });
      expect(answer.body, amount).toMatchObject({
        decision: 'allow',
        tool_call: { parameters: { amount: 100 } },
      });
      hashes.add(answer.body.action_hash);
    }
    expect(hashes.size).toBe(1);
  });

  it('with an amount that no refund can have is denied by its parameters', async () => {
    for (const amount of [
      '-0',
      '0',
      '-1',
      '0.5',
      '1e300',
      '-1e15',
      '9007199254740994',
      '"100"',
      'null',
      '[1]',
    ]) {
      const answer = await callRoute(world, authorizeRoute, {
        options: { rawBody: call(`{"amount":${amount},"currency":"usd"}`) },
      });
      expect(answer.body, amount).toMatchObject({ decision: 'deny', denial: { by: 'parameters' } });
    }
  });
});
