import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEM_TABLE } from '../../src/http/problem_table.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { exchange, request } from './raw.ts';
import { expectAnswered, expectProblem, seen } from './refusal.ts';
import { callRoute, digestTables, pathOf, startWorld, validBody, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const ABSENT = '00000000-0000-7000-8000-000000000000';

/** Ids that name nothing: of another form, of another kind, of another tenant, of nothing. */
function idsOfNothing(): string[] {
  return [
    `apr_${ABSENT}`,
    `key_${ABSENT}`,
    world.foreignApprovalId,
    world.foreignKeyId,
    world.pendingId.toUpperCase(),
    world.pendingId.replace('apr_', 'APR_'),
    world.pendingId.replace('apr_', ''),
    world.pendingId.replace('apr_', 'dec_'),
    world.pendingId.replaceAll('-', ''),
    world.keyId.replace('key_', 'apr_'),
    `${world.pendingId}%00`,
    `${world.pendingId}%20`,
    `%20${world.pendingId}`,
    `${world.pendingId}%0a`,
    `${world.pendingId},${world.pendingId}`,
    `${world.pendingId}%2Fconsume`,
    'apr_',
    '0',
    '-1',
    '*',
    'null',
    'undefined',
    '%00',
    '%',
    '%zz',
    '%ff%fe',
    '%c0%ae',
    '%e2%80%ae',
    '%F0%9F%98%80',
    'é',
    "'%20or%201=1--",
    '__proto__',
    'constructor',
    '%7b%7d',
    'x'.repeat(10 * 1024),
  ];
}

/** Any name that can be a principal's may be made one: the id of `putPrincipal` is the caller's to choose. */
const ID_ROUTES = ROUTES.filter(
  ({ path, operationId }) => path.includes(':id') && operationId !== 'putPrincipal',
);

describe.each(ID_ROUTES.map((route) => ({ name: route.operationId, route })))('$name', ({ route }) => {
  it('answers every id that names nothing by one and the same 404, and writes nothing', async () => {
    const before = await digestTables(world);
    const texts = new Set<string>();
    for (const id of idsOfNothing()) {
      // An id of the kind of this route is not one of nothing.
      if (route.path.startsWith('/v1/keys/') && id === world.keyId) continue;
      const path = route.path.replace(':id', id);
      const body = route.body === undefined ? undefined : validBody(route);
      const answer = await callRoute(world, route, { path, body });
      expect(expectProblem(seen(answer), id, id.length > 4 ? [id] : []), id).toBe('not_found');
      texts.add(answer.text.replace(/req_[0-9a-f-]+/, ''));
    }
    expect(texts.size).toBe(1);
    expect(await digestTables(world)).toEqual(before);
  });

  it('answers dots and slashes in place of the id by a problem', async () => {
    const before = await digestTables(world);
    const token = world.tokenOf(route);
    for (const id of [
      '.',
      '..',
      '%2e',
      '%2e%2e',
      '%2E%2e%2f%2e%2e',
      '%2f',
      '/',
      '//',
      ';',
      ';/..',
      '\\..',
      '%5c',
      '#x',
      '?x=1',
    ]) {
      const target = route.path.replace(':id', id);
      const bytes = request(route.method.toUpperCase(), target, [`authorization: Bearer ${token}`]);
      const [answer] = await exchange(world.service.url, bytes);
      if (answer === undefined) throw new Error(`no answer to ${target}`);
      if (answer.status >= 400) expectProblem(answer, target);
      else expect([route.method, answer.status], target).toEqual(['get', 200]);
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

describe.each(ROUTES.map((route) => ({ name: route.operationId, route })))('$name', ({ route }) => {
  const METHODS = [
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'PURGE',
    'M-SEARCH',
  ];

  it('answers every method that is not served by 405 with those that are', async () => {
    const served = ROUTES.filter(({ path }) => path === route.path).map(({ method }) => method.toUpperCase());
    const allowed = served.includes('GET') ? [...served, 'HEAD'] : served;
    const before = await digestTables(world);
    for (const method of METHODS.filter((name) => !allowed.includes(name))) {
      const target = pathOf(route, world);
      const bytes = request(method, target, [`authorization: Bearer ${world.tokenOf(route)}`]);
      const [answer] = await exchange(world.service.url, bytes);
      if (answer === undefined) throw new Error(`no answer to ${method}`);
      if (method === 'HEAD') {
        expect(answer.status).toBe(405);
        continue;
      }
      expect(expectProblem(answer, `${method} ${target}`)).toBe('method_not_allowed');
      expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed].sort());
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('answers a path beside it by 404, with a credential and without', async () => {
    const before = await digestTables(world);
    const path = pathOf(route, world);
    const beside = [
      `${path}/`,
      `/${path}`,
      path.replace('/v1', '/V1'),
      path.replace('/v1', '/v2'),
      `${path}%00`,
      `${path}.json`,
      `${path};a=b`,
    ];
    for (const target of beside) {
      for (const credential of [[`authorization: Bearer ${world.tokenOf(route)}`], []]) {
        const [answer] = await exchange(
          world.service.url,
          request(route.method.toUpperCase(), target, credential),
        );
        if (answer === undefined) throw new Error(`no answer to ${target}`);
        // Behind a name more of the path is more of the name, and that needs a credential first.
        const isMoreOfName = /:[a-z_]+$/.test(route.path) && /(%00|\.json|;a=b)$/.test(target);
        if (!isMoreOfName) expect(expectProblem(answer, target)).toBe('not_found');
        else if (credential.length === 0) expect(expectProblem(answer, target)).toBe('unauthenticated');
        // A session may have any name, and reads as one that nothing is known of.
        else if (answer.status === 200) expect(route.operationId).toBe('getSession');
        else expect(expectProblem(answer, target)).toBe(route.body ? 'invalid_request' : 'not_found');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

describe('a query', () => {
  const NO_NUMBERS = [
    '',
    ' ',
    '-1',
    '+1',
    '1.0',
    '1.5',
    '1e1',
    '0x10',
    '1_000',
    '１',
    '٣',
    'NaN',
    'Infinity',
    '99999999999',
    '9'.repeat(400),
    '1%00',
    '1;2',
    '1,2',
    'true',
    '[]',
    '%F0%9F%98%80',
  ];

  it('refuses numbers of another form or out of range', async () => {
    const before = await digestTables(world);
    const targets = [
      ...[...NO_NUMBERS, '0', '201', '4294967297'].map((value) => `/v1/approvals?limit=${value}`),
      ...[...NO_NUMBERS, '56', '2147483648'].map((value) => `/v1/approvals/${world.pendingId}?wait=${value}`),
      ...[...NO_NUMBERS, '0', '2147483648'].map(
        (value) => `/v1/approvals/${world.pendingId}?version=${value}`,
      ),
    ];
    for (const target of targets) {
      const answer = await world.service.approver.get(target);
      expect(expectProblem(seen(answer), target), target).toBe('invalid_request');
      expect(answer.body.errors, target).not.toEqual([]);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('takes leading zeros for what they are', async () => {
    const answer = await world.service.approver.get('/v1/approvals?limit=0000000001');
    expect(answer.body.items).toHaveLength(1);
  });

  it('refuses parameters that are unknown, stand twice or have a value of another form', async () => {
    const before = await digestTables(world);
    const list = '/v1/approvals?';
    const targets = [
      ...[
        'stat=pending',
        '__proto__=1',
        'constructor=1',
        'toString=1',
        'LIMIT=1',
        'limit[]=1',
        '%00=1',
        '=1',
        'limit',
      ].map((query) => list + query),
      ...[
        'limit=1&limit=1',
        'limit=1&limit=2',
        'status=pending&status=approved',
        'limit=1&%6cimit=2',
        '__proto__=1&__proto__=2',
      ].map((query) => list + query),
      ...[
        'status=denied',
        'status=PENDING',
        'status=',
        'status=pending,approved',
        'outcome=',
        'outcome=executed',
        'agent=',
        'agent=a%20b',
        'agent=%00',
        'tool=',
        'tool=%00',
        'tool=%e2%80%ae',
        `tool=${'x'.repeat(129)}`,
      ].map((query) => list + query),
      ...[
        'cursor=',
        'cursor=x',
        `cursor=${'x'.repeat(5000)}`,
        `cursor=${world.pendingId.toUpperCase()}`,
        `cursor=${world.keyId}`,
        `cursor=${world.pendingId}x`,
        'cursor=%00',
        "cursor='--",
        'cursor=[]',
      ].map((query) => list + query),
      '/v1/me?x=1',
      `/v1/approvals/${world.pendingId}?waits=1`,
      `/v1/approvals/${world.pendingId}?wait=0&wait=0`,
      `/v1/approvals/${world.pendingId}?__proto__=1`,
    ];
    for (const target of targets) {
      const code = expectProblem(seen(await world.service.approver.get(target)), target);
      expect(code, target).toBe('invalid_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('with the cursor of another tenant shows nothing of it', async () => {
    const answer = await world.service.approver.get(`/v1/approvals?cursor=${world.foreignApprovalId}`);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(world.foreignApprovalId);
  });

  it('of any bytes is answered on every route', async () => {
    for (const route of ROUTES.filter(({ method }) => method === 'get')) {
      for (const query of [
        '?',
        '?&&&',
        '?=',
        '?%',
        '?%zz=%ff',
        '?a=%00',
        `?${'a'.repeat(8000)}`,
        `?${'&a=1'.repeat(2000)}`,
        '??',
        '?#',
        '?a[b]=c',
      ]) {
        const answer = await callRoute(world, route, { path: pathOf(route, world) + query });
        expectAnswered(seen(answer), `${route.operationId} ${query.slice(0, 30)}`);
      }
    }
  });

  it('too long for a request line is 431', async () => {
    const answer = await world.service.approver.get(`/v1/approvals?tool=${'x'.repeat(100_000)}`);
    expect(expectProblem(seen(answer), 'long url')).toBe('header_too_large');
  });
});

describe('a caller without the role', () => {
  it('is 403 on every route, whatever the body and id are, and learns nothing by it', async () => {
    const before = await digestTables(world);
    for (const route of ROUTES.filter(({ roles }) => roles !== 'any' && !roles.includes('auditor'))) {
      const auditor = world.clientOf({ ...route, roles: ['auditor'] });
      for (const path of [pathOf(route, world), route.path.replace(':id', world.foreignApprovalId)]) {
        const options = route.method === 'get' ? {} : { rawBody: '{"a":1,"a":2}' };
        const answer = await callRoute(world, route, { client: auditor, path, options });
        expect(expectProblem(seen(answer), route.operationId)).toBe('forbidden');
        expect(answer.status).toBe(PROBLEM_TABLE.forbidden.status);
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });
});
