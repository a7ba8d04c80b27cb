import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { authorize, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, ROOMY } from './support.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
});
afterAll(() => service.close());
afterEach(() => put([]));

const put = (items: unknown, ifMatch?: string): Promise<ApiAnswer> =>
  service.operator.call(
    'PUT',
    '/v1/tool-permissions',
    { items },
    ifMatch === undefined ? {} : { headers: { 'if-match': ifMatch } },
  );

const decide = async (toolCall: object = refund(100)) =>
  (await authorize(service.agent, toolCall)).body.decision;

describe('PUT /v1/tool-permissions', () => {
  test('replaces them all, as a revision, and they are read as they were put', async () => {
    const items = [
      { pattern: 'stripe.*', permission: 'ask' },
      { pattern: 'crm.read_customer', permission: 'allow' },
    ];
    const answer = await put(items);
    expectOk(answer, { items, next_cursor: null });
    const { body } = await service.operator.get('/v1/policies');
    expect(answer.headers.get('etag')).toBe(`"${body.revision}"`);
    expectOk(await service.operator.get('/v1/tool-permissions'), { items });
    const shorter = [{ pattern: 'files.write', permission: 'deny' }];
    expectOk(await put(shorter), { items: shorter });
    expectOk(await put([]), { items: [] });
  });

  test('decides from then on: deny denies, and its removal gives back', async () => {
    expect(await decide()).toBe('allow');
    await put([{ pattern: 'stripe.*', permission: 'deny' }]);
    expect(await decide()).toBe('deny');
    await put([{ pattern: 'stripe.refund', permission: 'ask' }]);
    expect(await decide()).toBe('require_approval');
    await put([]);
    expect(await decide()).toBe('allow');
  });

  test('an exact name beats a glob, the longer glob the shorter', async () => {
    await put([
      { pattern: '*', permission: 'deny' },
      { pattern: 'stripe.*', permission: 'ask' },
    ]);
    expect(await decide()).toBe('require_approval');
    await put([
      { pattern: 'stripe.*', permission: 'deny' },
      { pattern: 'stripe.refund', permission: 'allow' },
    ]);
    expect(await decide()).toBe('allow');
  });

  test.each([
    ['', 'deny', '/items/0/pattern'],
    ['Stripe.refund', 'deny', '/items/0/pattern'],
    ['stripe', 'deny', '/items/0/pattern'],
    ['a.b.c', 'deny', '/items/0/pattern'],
    ['stripe.refund', 'never', '/items/0/permission'],
  ])('%j: %j is 422', async (pattern, permission, pointer) => {
    const answer = await put([{ pattern, permission }]);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toContainEqual({ pointer, reason: expect.any(String) });
    expectOk(await service.operator.get('/v1/tool-permissions'), { items: [] });
  });

  test('a pattern twice is 422, and so are more than 1,000 and no list', async () => {
    const twice = await put([
      { pattern: 'a.*', permission: 'deny' },
      { pattern: 'a.*', permission: 'allow' },
    ]);
    expectProblem(twice, 422, 'invalid_request');
    expect(twice.body.errors).toEqual([{ pointer: '/items/1/pattern', reason: expect.any(String) }]);
    const many = Array.from({ length: 1001 }, (_, at) => ({ pattern: `a.b${at}`, permission: 'deny' }));
    expectProblem(await put(many), 422, 'invalid_request');
    expectProblem(await put(null), 422, 'invalid_request');
  });

  test('honours If-Match', async () => {
    const { headers } = await put([{ pattern: 'a.b', permission: 'deny' }]);
    const tag = headers.get('etag') ?? '';
    expectOk(await put([{ pattern: 'a.c', permission: 'deny' }], tag));
    expectProblem(await put([], tag), 412, 'stale_version');
  });

  test('is for operators', async () => {
    const auditor = await newActor(service, ['auditor']);
    for (const client of [service.agent, service.approver, auditor.client]) {
      expectProblem(await client.get('/v1/tool-permissions'), 403, 'forbidden');
      expectProblem(await client.call('PUT', '/v1/tool-permissions', { items: [] }), 403, 'forbidden');
    }
  });
});
