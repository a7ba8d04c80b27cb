import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizeRoute } from '../../src/http/routes/authorize.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { makeKey, refund, TRUSTED } from '../support/calls.ts';
import { exchange, request } from './raw.ts';
import { expectProblem, seen } from './refusal.ts';
import { BODY_ROUTES, callRoute, digestTables, pathOf, startWorld, validBody, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const MEBIBYTE = 1024 * 1024;

async function one(bytes: string): Promise<Awaited<ReturnType<typeof exchange>>[number]> {
  const answers = await exchange(world.service.url, bytes);
  const [answer] = answers;
  if (answer === undefined || answers.length !== 1)
    throw new Error(`${answers.length} answers to ${bytes.slice(0, 300)}`);
  return answer;
}

describe('a credential', () => {
  it('of any other form, unknown, expired or revoked is 401 on every route, and is never repeated', async () => {
    const { operator, tokens, sql } = world.service;
    const expired = await makeKey(operator, {
      principal: 'agent-7',
      roles: ['agent', 'approver'],
      expires_at: '2999-01-01T00:00:00Z',
    });
    await sql`update keys set expires_at = clock_timestamp() - interval '1 second' where key_id = ${expired.id.slice(4)}`;
    const revoked = await makeKey(operator, { principal: 'agent-8', roles: ['agent', 'approver'] });
    await operator.delete(`/v1/keys/${revoked.id}`);
    const good = tokens.OPERATOR;
    const values = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer  ',
      `Basic ${good}`,
      `Basic ${Buffer.from(`operator-1:${good}`).toString('base64')}`,
      good,
      `Token ${good}`,
      `Bearer${good}`,
      `Bearer\t${good}`,
      `Bearer ${good} ${good}`,
      `Bearer ${good},Bearer ${good}`,
      `Bearer "${good}"`,
      `Bearer ${good};x=y`,
      `Bearer token=${good}`,
      `Bearer ${good.toUpperCase()}`,
      `Bearer ${good.slice(0, -1)}`,
      `Bearer ${good}A`,
      `Bearer =${good}`,
      `Bearer ${good}\u00e9`,
      `Bearer ${'a'.repeat(513)}`,
      `Bearer ${'a'.repeat(8000)}`,
      'Bearer undefined',
      'Bearer null',
      "Bearer ' or 1=1 --",
      'Bearer %00',
      `Bearer ${expired.token}`,
      `Bearer ${revoked.token}`,
    ];
    const before = await digestTables(world);
    for (const value of values) {
      for (const route of ROUTES) {
        const headers = value === undefined ? [] : [`authorization: ${value}`];
        const body = route.body === undefined ? '' : JSON.stringify(validBody(route));
        const answer = await one(
          request(
            route.method.toUpperCase(),
            pathOf(route, world),
            ['content-type: application/json', ...headers],
            body,
          ),
        );
        const token = value?.slice(-40);
        expect(
          expectProblem(answer, `${route.operationId} ${value}`, token?.length === 40 ? [token] : []),
        ).toBe('unauthenticated');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('with its scheme in capitals or after several spaces is a credential', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ', 'bEaReR    ']) {
      const answer = await one(
        request('GET', '/v1/me', [`authorization: ${scheme} ${world.service.tokens.AGENT}`]),
      );
      expect(answer.status, scheme).toBe(200);
    }
  });

  it('of a megabyte is 431', async () => {
    const answer = await one(request('GET', '/v1/me', [`authorization: Bearer ${'a'.repeat(MEBIBYTE)}`]));
    expect(expectProblem(answer, 'a megabyte')).toBe('header_too_large');
  });

  it('in a query, a cookie or another header is none', async () => {
    const token = world.service.tokens.OPERATOR;
    for (const header of [
      `cookie: authorization=Bearer ${token}; token=${token}`,
      `proxy-authorization: Bearer ${token}`,
      `x-api-key: ${token}`,
      `x-authorization: Bearer ${token}`,
    ]) {
      const answer = await one(request('GET', `/v1/me?access_token=${token}`, [header]));
      expect(expectProblem(answer, header, [token])).toBe('unauthenticated');
    }
  });
});

describe('a repeated or conflicting header', () => {
  const authorization = () => `authorization: Bearer ${world.service.tokens.AGENT}`;

  it('of a single value is 400, equal or not, on every route', async () => {
    const before = await digestTables(world);
    for (const route of ROUTES) {
      const repeats = [
        [authorization(), authorization()],
        [authorization(), 'Authorization: Bearer other'],
        [authorization(), 'host: other.example'],
        [authorization(), 'content-type: application/json', 'Content-Type: text/plain'],
        [authorization(), 'idempotency-key: a', 'idempotency-key: b'],
      ];
      for (const headers of repeats) {
        const answer = await one(request(route.method.toUpperCase(), pathOf(route, world), headers));
        expect(expectProblem(answer, headers.join(), [world.service.tokens.AGENT])).toBe('bad_request');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('If-Match sent twice is a list, and no list is taken', async () => {
    const before = await digestTables(world);
    const target = `/v1/approvals/${world.pendingId}/approve`;
    const headers = [
      `authorization: Bearer ${world.service.tokens.APPROVER}`,
      'if-match: "1"',
      'if-match: "1"',
    ];
    expect(expectProblem(await one(request('POST', target, headers)), 'if-match')).toBe('invalid_request');
    expect(await digestTables(world)).toEqual(before);
  });

  it('two lengths, or a length and chunks, are 400', async () => {
    const before = await digestTables(world);
    const json = 'content-type: application/json';
    const frames = [
      ['content-length: 2', 'content-length: 3'],
      ['content-length: 2', 'content-length: 2'],
      ['content-length: 2, 3'],
      ['content-length: -1'],
      ['content-length: 2x'],
      ['content-length: 0x2'],
      ['content-length: 1e3'],
      ['content-length: 99999999999999999999999'],
      ['content-length: 2', 'transfer-encoding: chunked'],
      ['transfer-encoding: chunked', 'transfer-encoding: identity'],
      ['transfer-encoding: chunked, chunked'],
      ['transfer-encoding: gzip, chunked, x'],
      ['transfer-encoding: xchunked'],
    ];
    for (const frame of frames) {
      const answers = await exchange(
        world.service.url,
        `${request('POST', '/v1/authorize', [authorization(), json, ...frame])}{}`,
      );
      expect(answers.length, frame.join()).toBe(1);
      const code = expectProblem(answers[0] as (typeof answers)[0], frame.join());
      expect(code, frame.join()).toBe('bad_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });
});

describe('a header that a route reads', () => {
  const JUNK = [
    '',
    ' ',
    '*',
    'W/"1"',
    '"1", "2"',
    '1',
    "'1'",
    '"one"',
    '"-1"',
    '"1.0"',
    '"01"',
    '" 1"',
    '"1',
    '""',
    '"9999999999"',
    '"99999999999999"',
    '\u00ff',
    '"\\"1\\""',
  ];

  it('If-Match is one strong tag or 422, and changes nothing', async () => {
    const before = await digestTables(world);
    for (const action of ['approve', 'reject', 'edit', 'cancel']) {
      for (const junk of JUNK) {
        const options = { headers: { 'if-match': junk } };
        const body = action === 'edit' ? { tool_call: refund(6000) } : {};
        const answer = await world.service.approver.post(
          `/v1/approvals/${world.pendingId}/${action}`,
          body,
          options,
        );
        expect(expectProblem(seen(answer), `${action} ${junk}`), junk).toBe('invalid_request');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('Idempotency-Key is 1 to 256 printable characters or 422, and decides nothing', async () => {
    const before = await digestTables(world);
    const body = { tool_call: refund(100), context: TRUSTED };
    for (const junk of [
      '',
      ' ',
      '""',
      'a b',
      'a,b',
      'a"b',
      '"a',
      '"a\\b"',
      '\u00e9',
      '"\u00ff"',
      'a\tb',
      'x'.repeat(257),
      `"${'x'.repeat(257)}"`,
      '"a";b=c',
    ]) {
      const answer = await callRoute(world, authorizeRoute, {
        body,
        options: { headers: { 'idempotency-key': junk } },
      });
      expect(expectProblem(seen(answer), junk), junk).toBe('invalid_request');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('Idempotency-Key of metacharacters is a key like any other', async () => {
    for (const key of ["';drop", '"a b, c"', '"\\"\\\\"', '$1', '%00', '{}', 'x'.repeat(256)]) {
      const headers = { 'idempotency-key': key };
      const body = { tool_call: refund(100), context: TRUSTED };
      const first = await callRoute(world, authorizeRoute, { body, options: { headers } });
      const second = await callRoute(world, authorizeRoute, { body, options: { headers } });
      expect(second.body, key).toEqual(first.body);
      const other = { ...body, dry_run: true };
      const reused = await callRoute(world, authorizeRoute, { body: other, options: { headers } });
      expect(expectProblem(seen(reused), key)).toBe('idempotency_key_reused');
    }
  });

  it('Prefer is a wait of whole seconds, something else that is ignored, or 422', async () => {
    const get = (prefer: string) =>
      world.service.approver.get(`/v1/approvals/${world.consumedId}`, { headers: { prefer } });
    for (const junk of [
      'wait=',
      'wait=x',
      'wait=-1',
      'wait=1.5',
      'wait=56',
      'wait=9999999',
      'wait=1e1',
      'respond-async, wait=zz',
      'WAIT=x',
      'wait="',
    ]) {
      expect(expectProblem(seen(await get(junk)), junk), junk).toBe('invalid_request');
    }
    for (const ignored of ['', 'respond-async', 'return=minimal', ';;;', 'waits=9', '"', '=1', 'wait']) {
      expect((await get(ignored)).status, ignored).toBe(200);
    }
  });

  it('any other header of any value changes no answer', async () => {
    const plain = await world.service.agent.get('/v1/me');
    const headers = [
      'accept: text/html',
      'accept-encoding: gzip',
      'accept-language: xx',
      'x-http-method-override: DELETE',
      'x-forwarded-for: 1.2.3.4, \u00ff, ::1',
      'forwarded: for=unknown',
      'x-forwarded-host: evil.example',
      'x-original-url: /v1/keys',
      'if-none-match: *',
      'if-modified-since: x',
      'range: bytes=0-1',
      'origin: null',
      'upgrade: h2c',
      'te: trailers',
      'x-request-id: req_1',
      'traceparent: zz',
      'cookie: a=b; a',
      'max-forwards: 0',
    ];
    for (const header of headers) {
      const answer = await one(
        request('GET', '/v1/me', [`authorization: Bearer ${world.service.tokens.AGENT}`, header]),
      );
      expect([answer.status, answer.text], header).toEqual([200, plain.text]);
    }
  });

  it('with control characters in its value is 400', async () => {
    for (const value of ['a\0b', 'a\x01b', 'a\x7fb', 'a\rb', 'a\r b']) {
      const bytes = request('GET', '/v1/me', [
        `authorization: Bearer ${world.service.tokens.AGENT}`,
        `x-note: ${value}`,
      ]);
      expect(expectProblem(await one(bytes), JSON.stringify(value))).toBe('bad_request');
    }
  });

  it('a missing content type is 415 on every route with a body, and an empty one too', async () => {
    const before = await digestTables(world);
    for (const route of BODY_ROUTES) {
      for (const headers of [[], ['content-type:'], ['content-type: ']]) {
        const bytes = request(
          route.method.toUpperCase(),
          pathOf(route, world),
          [`authorization: Bearer ${world.tokenOf(route)}`, ...headers],
          JSON.stringify(validBody(route)),
        );
        expect(expectProblem(await one(bytes), route.operationId)).toBe('unsupported_media_type');
      }
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('hundreds of headers are read, thousands are 431', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `x-${at}: ${at}`);
    const credential = `authorization: Bearer ${world.service.tokens.AGENT}`;
    expect((await one(request('GET', '/v1/me', [credential, ...many(500)]))).status).toBe(200);
    expect(expectProblem(await one(request('GET', '/v1/me', [credential, ...many(5000)])), 'many')).toBe(
      'header_too_large',
    );
  });
});
