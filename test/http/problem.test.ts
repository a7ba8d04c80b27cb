import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { Fault, type FaultCode } from '../../src/core/fault.ts';
import { parseStrictJson } from '../../src/core/strict_json.ts';
import { buildProblem, problemResponse } from '../../src/http/problem.ts';
import { PROBLEM_TABLE } from '../../src/http/problem_table.ts';
import { newRequestId } from '../../src/http/request_id.ts';
import { issuesFromZod } from '../../src/http/zod_issues.ts';

const OPTIONS = { requestId: 'req_1' };

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('a problem', () => {
  test('has the members of the contract, and no more', async () => {
    const response = problemResponse(
      new Fault('binding_mismatch', 'the workspace differs. Ask anew'),
      OPTIONS,
    );
    expect(response.status).toBe(409);
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
    });
    expect(await response.json()).toEqual({
      type: 'urn:aegis:problem:binding-mismatch',
      title: 'binding differs',
      status: 409,
      detail: 'the workspace differs. Ask anew',
      code: 'binding_mismatch',
      request_id: 'req_1',
    });
  });

  test.each(Object.keys(PROBLEM_TABLE) as FaultCode[])(
    'of code %s has its type and an error status',
    (code) => {
      const { status, body } = buildProblem(new Fault(code, 'detail'), OPTIONS);
      expect(body).toMatchObject({ type: `urn:aegis:problem:${code.replaceAll('_', '-')}`, status, code });
      expect(status).toBeGreaterThanOrEqual(400);
    },
  );

  test('shows the issues and members of its fault', () => {
    const fault = new Fault('approval_voided', 'ask anew', {
      members: { approval_status: 'voided', void_reason: 'policy' },
      issues: [{ pointer: '/a', reason: 'is required' }],
    });
    expect(buildProblem(fault, OPTIONS).body).toMatchObject({
      approval_status: 'voided',
      void_reason: 'policy',
      errors: [{ pointer: '/a', reason: 'is required' }],
    });
  });

  test('keeps its own members where a fault names the same', () => {
    const fault = new Fault('forbidden', 'detail', { members: { status: 200, code: 'ok', request_id: 'x' } });
    expect(buildProblem(fault, OPTIONS).body).toMatchObject({
      status: 403,
      code: 'forbidden',
      request_id: 'req_1',
    });
  });

  test('of a missing thing is the same whatever the fault says', () => {
    const plain = buildProblem(new Fault('not_found', 'a'), OPTIONS);
    const telling = new Fault('not_found', 'b', {
      members: { id: 'apr_1' },
      issues: [],
      retryAfterSeconds: 1,
    });
    expect(buildProblem(telling, OPTIONS).body).toEqual(plain.body);
  });

  test('of a hash is 422 with the hash expected, else 409', () => {
    const members = { expected_action_hash: 'a', canonical_action: '{}' };
    expect(buildProblem(new Fault('action_hash_mismatch', 'detail', { members }), OPTIONS).status).toBe(422);
    expect(buildProblem(new Fault('action_hash_mismatch', 'detail'), OPTIONS).status).toBe(409);
  });

  test('of status 401 asks for a bearer token, of 405 names what is allowed', () => {
    expect(buildProblem(new Fault('unauthenticated', 'detail'), OPTIONS).headers).toMatchObject({
      'www-authenticate': 'Bearer',
    });
    const refused = new Fault('method_not_allowed', 'detail');
    expect(buildProblem(refused, { ...OPTIONS, allow: ['GET', 'HEAD'] }).headers).toMatchObject({
      allow: 'GET, HEAD',
    });
  });

  test.each(['throttled', 'too_many_pending', 'unavailable'] as const)(
    'of code %s says when to try again',
    (code) => {
      const retryAfter = (retryAfterSeconds?: number) =>
        buildProblem(
          new Fault(code, 'detail', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
          OPTIONS,
        ).headers['retry-after'];
      expect([retryAfter(), retryAfter(0), retryAfter(2.1), retryAfter(60)]).toEqual(['1', '1', '3', '60']);
    },
  );

  test.each([
    new Error('secret'),
    new Fault('unavailable', 'secret', { cause: new Error('secret'), members: { host: 'secret' } }),
    new Fault('internal_error', 'secret', { issues: [{ pointer: '', reason: 'secret' }] }),
    'secret',
    undefined,
  ])('of status 5xx has a constant text: %o', (error) => {
    const { status, body } = buildProblem(error, OPTIONS);
    expect(status).toBeGreaterThanOrEqual(500);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  test('of a body that is not strict json names the place', () => {
    const error = caught(() => parseStrictJson('{"a":{"b":1,"b":2}}'));
    expect(buildProblem(error, OPTIONS).body).toMatchObject({
      status: 400,
      code: 'invalid_json',
      errors: [{ pointer: '/a/b', reason: 'duplicate_member' }],
    });
  });

  test('of another shape names the places', () => {
    const error = caught(() => z.strictObject({ a: z.string() }).parse({ a: 1 }));
    expect(buildProblem(error, OPTIONS).body).toMatchObject({
      status: 422,
      code: 'invalid_request',
      errors: [{ pointer: '/a', reason: 'expected string, received number' }],
    });
  });
});

describe('the issues of a schema', () => {
  function issues(schema: z.ZodType, value: unknown) {
    const { error } = schema.safeParse(value);
    if (error === undefined) {
      throw new Error('the value fits the schema');
    }
    return issuesFromZod(error);
  }

  test('tell missing, ill-typed and out of range in lower case', () => {
    const schema = z.object({
      missing: z.string(),
      list: z.array(z.number().max(5)),
      word: z.enum(['a', 'b']),
      time: z.iso.datetime(),
    });
    expect(issues(schema, { list: [1, 6, 'x'], word: 'c', time: 'now' })).toEqual([
      { pointer: '/missing', reason: 'is required' },
      { pointer: '/list/1', reason: 'too big: expected number to be <=5' },
      { pointer: '/list/2', reason: 'expected number, received string' },
      { pointer: '/word', reason: 'expected one of "a"|"b"' },
      { pointer: '/time', reason: 'invalid ISO datetime' },
    ]);
    expect(issues(schema, null)).toEqual([{ pointer: '', reason: 'expected object, received null' }]);
  });

  test('give each unknown member its own pointer, escaped', () => {
    expect(issues(z.strictObject({ a: z.strictObject({}) }), { a: { 'x/y~z': 1, '': 2 } })).toEqual([
      { pointer: '/a/x~1y~0z', reason: 'is not a known member' },
      { pointer: '/a/', reason: 'is not a known member' },
    ]);
  });

  test('of a union are those of the one shape that is near, else one', () => {
    const schema = z.object({ limits: z.union([z.null(), z.strictObject({ max: z.number() })]) });
    expect(issues(schema, { limits: { max: 'x' } })).toEqual([
      { pointer: '/limits/max', reason: 'expected number, received string' },
    ]);
    expect(issues(schema, { limits: 4 })).toEqual([
      { pointer: '/limits', reason: 'has none of the allowed forms' },
    ]);
  });

  test('keep a message of the schema itself', () => {
    const schema = z.string().refine(() => false, 'holds a control character');
    expect(issues(schema, 'x')).toEqual([{ pointer: '', reason: 'holds a control character' }]);
  });

  test('are at most 50, of bounded length', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 1]));
    expect(issues(z.strictObject({}), many)).toHaveLength(50);
    expect(issues(z.strictObject({ a: z.strictObject({}) }), { a: { ['x'.repeat(1000)]: 1 } })).toEqual([
      { pointer: '/a', reason: 'is not a known member' },
    ]);
  });
});

test('request ids are distinct and have their prefix', () => {
  expect(newRequestId()).toMatch(/^req_[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(newRequestId()).not.toBe(newRequestId());
});
