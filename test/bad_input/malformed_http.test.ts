import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/http/routes/index.ts';
import { RawClient } from '../http/raw_http.ts';
import { exchange, request, toSeen } from './raw.ts';
import { expectAnswered, expectProblem } from './refusal.ts';
import { BODY_ROUTES, digestTables, pathOf, startWorld, validBody, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.service.close());

const JSON_TYPE = 'content-type: application/json';
const CHUNKED = 'transfer-encoding: chunked';
/** The server's own limit for a body is ten seconds. */
const BODY_SECONDS_MAX = 14;

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function credential(): string {
  return `authorization: Bearer ${world.service.tokens.AGENT}`;
}

const MALFORMED: [what: string, bytes: string | Uint8Array][] = [
  ['an empty line and nothing', '\r\n\r\n\r\n\0\r\n\r\n'],
  ['words', 'hello world\r\n\r\n'],
  ['a TLS hello', Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])],
  ['random bytes', Uint8Array.from({ length: 512 }, (_, at) => (at * 89 + 131) % 256)],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown version', 'GET /v1/me HTTP/9.9\r\nhost: x\r\n\r\n'],
  ['no version', 'GET /v1/me\r\n\r\n'],
  ['an unknown method', 'FROB /v1/me HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a method in lower case', 'get /v1/me HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['no path', 'GET  HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a space in the path', 'GET /v1/a b HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a NUL in the path', 'GET /v1/\0 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a space in a header name', 'GET /v1/me HTTP/1.1\r\nhost : x\r\n\r\n'],
  ['a header without colon', 'GET /v1/me HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n'],
  ['a folded header', 'GET /v1/me HTTP/1.1\r\nhost: x\r\nx-a: 1\r\n 2\r\n\r\n'],
  ['no host', 'GET /v1/me HTTP/1.1\r\n\r\n'],
  ['a host that is none', 'GET /v1/me HTTP/1.1\r\nhost: a b/c\r\n\r\n'],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'],
  ['an unknown expectation', 'GET /v1/me HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\n\r\n'],
  [
    'a chunk size that is none',
    `POST /v1/authorize HTTP/1.1\r\nhost: x\r\n${CHUNKED}\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  ],
  [
    'a chunk size beyond all',
    `POST /v1/authorize HTTP/1.1\r\nhost: x\r\n${CHUNKED}\r\n\r\nffffffffffffffffff\r\n`,
  ],
  ['a target of another form', 'GET v1/me HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['an endless header', `GET /v1/me HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(100_000)}`],
  ['an endless path', `GET /${'a'.repeat(100_000)}`],
];

describe('malformed HTTP', () => {
  it.each(MALFORMED)('%s is one problem, then the end of the connection', async (what, bytes) => {
    const answers = await exchange(world.service.url, bytes);
    expect(answers).toHaveLength(1);
    for (const answer of answers) expectProblem(answer, what);
  });

  it('a hundred at once are all answered, and the service goes on', async () => {
    const sent = Array.from(
      { length: 100 },
      (_, at) => MALFORMED[at % MALFORMED.length] as (typeof MALFORMED)[number],
    );
    const all = await Promise.all(sent.map(([, bytes]) => exchange(world.service.url, bytes)));
    for (const answers of all) expect(answers).toHaveLength(1);
    expect((await world.service.agent.get('/v1/me')).status).toBe(200);
  });

  it('a hundred slow headers do not keep others waiting', async () => {
    const clients = Array.from({ length: 100 }, () => new RawClient(world.service.url));
    await Promise.all(clients.map((client) => client.send('GET /v1/me HTTP/1.1\r\nhost: x\r\nx-a: ')));
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.service.agent.get('/v1/me')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (const client of clients) client.socket.destroy();
  });

  it('headers that never end are 400 within their time', async () => {
    const client = new RawClient(world.service.url);
    await client.send('GET /v1/me HTTP/1.1\r\nhost: x\r\n');
    const trickle = setInterval(() => client.socket.write('x-a: 1\r\n'), 500);
    const [answer] = (await client.answers(1)).map(toSeen);
    clearInterval(trickle);
    client.socket.destroy();
    expect(expectProblem(answer as NonNullable<typeof answer>, 'slow headers')).toBe('bad_request');
  });
});

describe('a body over the wire', () => {
  it('in chunks over the limit is 413 on every route with a body, before it ends', async () => {
    const before = await digestTables(world);
    for (const route of BODY_ROUTES) {
      const head = request(route.method.toUpperCase(), pathOf(route, world), [
        `authorization: Bearer ${world.tokenOf(route)}`,
        JSON_TYPE,
        CHUNKED,
      ]);
      const [answer] = await exchange(
        world.service.url,
        head + chunk('{"reason":"') + chunk('a'.repeat((route.bodyBytesMax ?? 256 * 1024) + 1)),
      );
      if (answer === undefined) throw new Error(`no answer from ${route.operationId}`);
      expect(expectProblem(answer, route.operationId)).toBe('body_too_large');
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('that never ends is 400 on every route with a body, in chunks and by length', async () => {
    const before = await digestTables(world);
    const never = (framing: string, start: string) =>
      BODY_ROUTES.map(async (route) => {
        const head = request(route.method.toUpperCase(), pathOf(route, world), [
          `authorization: Bearer ${world.tokenOf(route)}`,
          JSON_TYPE,
          framing,
        ]);
        const [answer] = await exchange(world.service.url, head + start, BODY_SECONDS_MAX);
        if (answer === undefined) throw new Error(`no answer from ${route.operationId}`);
        expect(expectProblem(answer, route.operationId)).toBe('bad_request');
      });
    await Promise.all([
      ...never(CHUNKED, chunk('{"reason":')),
      ...never('content-length: 1000', '{"reason":'),
    ]);
    expect(await digestTables(world)).toEqual(before);
  });

  it('that is cut off changes nothing', async () => {
    const before = await digestTables(world);
    for (const route of BODY_ROUTES) {
      const body = JSON.stringify(validBody(route));
      const head = request(route.method.toUpperCase(), pathOf(route, world), [
        `authorization: Bearer ${world.tokenOf(route)}`,
        JSON_TYPE,
        `content-length: ${body.length}`,
      ]);
      const client = new RawClient(world.service.url);
      await client.send(head + body.slice(0, -1));
      client.socket.end();
      const [answer] = await client.answers(1);
      expectProblem(toSeen(answer as NonNullable<typeof answer>), route.operationId);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('on a route that takes none is not read, however long', async () => {
    const ending = ROUTES.filter(({ method, success }) => method === 'get' && success.stream === undefined);
    for (const route of ending) {
      for (const body of ['{"a":1,"a":2}', 'x'.repeat(1024 * 1024)]) {
        const answers = await exchange(
          world.service.url,
          request(
            'GET',
            pathOf(route, world),
            [`authorization: Bearer ${world.tokenOf(route)}`, JSON_TYPE],
            body,
          ),
        );
        expect(
          answers.map(({ status }) => status),
          route.operationId,
        ).toEqual([200]);
      }
    }
  });

  it('after 100-continue is read, and is refused without it where the credential is not valid', async () => {
    const body = '{"tool_call":{}}';
    const send = async (authorization: string) => {
      const client = new RawClient(world.service.url);
      await client.send(
        request('POST', '/v1/authorize', [
          authorization,
          JSON_TYPE,
          'expect: 100-continue',
          `content-length: ${body.length}`,
        ]),
      );
      await client.send(body);
      return client.ended;
    };
    expect(await send(credential())).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 422 /);
    expect(await send('authorization: Bearer x')).toContain('HTTP/1.1 401 ');
  });
});

describe('pipelined and old requests', () => {
  it('are answered one by one in their order, a broken one last', async () => {
    const ask = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\n${credential()}\r\n\r\n`;
    const bytes = `${ask('/v1/me')}${ask('/v1/nothing')}${ask('/v1/keys')}${ask('/v1/me')}GET\0\r\n\r\n`;
    const answers = await exchange(world.service.url, bytes);
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 403, 200, 400]);
    for (const answer of answers) expectAnswered(answer, 'pipelined');
  });

  it('a request smuggled behind a body that is too short is another request, with its own credential', async () => {
    const smuggled = 'GET /v1/keys HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const bytes = `POST /v1/authorize HTTP/1.1\r\nhost: x\r\n${credential()}\r\n${JSON_TYPE}\r\ncontent-length: 2\r\n\r\n{}${smuggled}`;
    const answers = await exchange(world.service.url, bytes);
    expect(answers.map((answer) => expectProblem(answer, 'smuggled'))).toEqual([
      'invalid_request',
      'unauthenticated',
    ]);
  });

  it('HTTP/1.0 is served, with a host and without', async () => {
    for (const host of ['host: x\r\n', '']) {
      const [answer] = await exchange(
        world.service.url,
        `GET /v1/me HTTP/1.0\r\n${host}${credential()}\r\n\r\n`,
      );
      expect(answer?.status).toBe(200);
    }
    const [refused] = await exchange(world.service.url, 'GET /v1/me HTTP/1.0\r\n\r\n');
    expect(expectProblem(refused as NonNullable<typeof refused>, 'HTTP/1.0')).toBe('unauthenticated');
  });
});

it('after all of this the service has logged no failure', () => {
  expect(world.service.logged.filter(({ level }) => level === 'error')).toEqual([]);
});
