import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningServer, type ServeOptions, serveApp } from '../../src/http/server.ts';
import { deferred, type RawAnswer, RawClient, rawExchange, recordingLog } from './raw_http.ts';

const PROBLEM_HEADERS = {
  'content-type': 'application/problem+json',
  'cache-control': 'no-store',
  connection: 'close',
};

function expectProblem(answer: RawAnswer | undefined, status: number, code: string): void {
  expect(answer?.status).toBe(status);
  expect(answer?.headers).toMatchObject(PROBLEM_HEADERS);
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({
    type: `urn:aegis:problem:${code.replaceAll('_', '-')}`,
    status,
    code,
    detail: expect.stringMatching(/\S/),
    request_id: expect.stringMatching(/^req_[0-9a-f-]{36}$/),
  });
}

async function serve(
  fetch: ServeOptions['fetch'],
  options: Partial<ServeOptions> = {},
): Promise<RunningServer> {
  return serveApp({ fetch, hostname: '127.0.0.1', port: 0, log: recordingLog(), ...options });
}

/** Answers with what it was asked; `x-…` paths do something else. */
async function echo(request: Request): Promise<Response> {
  return Response.json({ method: request.method, url: request.url });
}

describe('what node:http refuses or would let pass', () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serve(echo);
  });
  afterAll(() => server.close());

  const HOST = 'Host: a.test\r\n';
  const malformed: [string, string][] = [
    ['no request line', 'hello\r\n\r\n'],
    ['an unknown method', `BREW / HTTP/1.1\r\n${HOST}\r\n`],
    ['a method in lower case', `get / HTTP/1.1\r\n${HOST}\r\n`],
    ['another protocol', `GET / SPDY/1.1\r\n${HOST}\r\n`],
    ['http/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a tls hello', '\x16\x03\x01\x02\x00\x01\x00\x01'],
    ['a space in the target', `GET /a b HTTP/1.1\r\n${HOST}\r\n`],
    ['a header without a colon', `GET / HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`],
    ['a space before the colon', `GET / HTTP/1.1\r\n${HOST}accept : a\r\n\r\n`],
    ['a control character in a value', `GET / HTTP/1.1\r\n${HOST}accept: a\u0001\r\n\r\n`],
    ['a folded header', `GET / HTTP/1.1\r\n${HOST}accept: a\r\n b\r\n\r\n`],
    ['bare line feeds', 'GET / HTTP/1.1\nHost: a.test\n\n'],
    ['a bare carriage return', `GET / HTTP/1.1\r\n${HOST}accept: a\rb: c\r\n\r\n`],
    ['a missing host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two hosts', `GET / HTTP/1.1\r\n${HOST}Host: b.test\r\n\r\n`],
    ['a host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['a host with a path', 'GET / HTTP/1.1\r\nHost: a.test/b\r\n\r\n'],
    ['two authorization headers', `GET / HTTP/1.1\r\n${HOST}Authorization: a\r\nauthorization: a\r\n\r\n`],
    ['two content types', `GET / HTTP/1.1\r\n${HOST}Content-Type: a/b\r\nContent-Type: a/b\r\n\r\n`],
    ['two idempotency keys', `GET / HTTP/1.1\r\n${HOST}Idempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n`],
    ['two content lengths', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    [
      'the same content length twice',
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
    ],
    ['a content length list', `POST / HTTP/1.1\r\n${HOST}Content-Length: 1, 1\r\n\r\na`],
    ['a negative content length', `POST / HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
    ['a hexadecimal content length', `POST / HTTP/1.1\r\n${HOST}Content-Length: 0x1\r\n\r\na`],
    [
      'a content length beside chunks',
      `POST / HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a transfer coding but chunked', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`],
    ['chunked not last', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ['the asterisk target', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
    ['a target of another scheme', `GET ftp://a.test/ HTTP/1.1\r\n${HOST}\r\n`],
    ['an absolute target without a host', `GET http:// HTTP/1.1\r\n${HOST}\r\n`],
    ['a backslash in the path', `GET /a\\b HTTP/1.1\r\n${HOST}\r\n`],
    ['an unknown expectation', `POST / HTTP/1.1\r\n${HOST}Expect: tea\r\nContent-Length: 1\r\n\r\na`],
    ['connect', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n'],
  ];
  test.each(malformed)('%s is a problem of status 400, and the connection ends', async (_, bytes) => {
    const answers = await rawExchange(server.url, bytes);
    expect(answers).toHaveLength(1);
    expectProblem(answers[0], 400, 'bad_request');
  });

  test('a token of 1 MB is a problem of status 431 that a client still sending can read', async () => {
    const client = new RawClient(server.url);
    await client.send(`GET / HTTP/1.1\r\n${HOST}Authorization: Bearer ${'a'.repeat(1_000_000)}\r\n\r\n`);
    const [answer] = await client.answers(1);
    expectProblem(answer, 431, 'header_too_large');
    await client.ended;
    expect(client.errors).toEqual([]);
  });

  test('a token of 1 MB is a problem of status 431 for the clients of node', async () => {
    const headers = { authorization: `Bearer ${'a'.repeat(1_000_000)}` };
    const response = await fetch(server.url, { headers });
    expect(response.status).toBe(431);
    expect(await response.json()).toMatchObject({ code: 'header_too_large' });
    const status = await new Promise((resolve, reject) => {
      httpRequest(server.url, { headers }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(431);
  });

  test('a request line over the limit is a problem of status 431', async () => {
    const [answer] = await rawExchange(server.url, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`);
    expectProblem(answer, 431, 'header_too_large');
  });

  test('a repeated header is seen behind thousands of others', async () => {
    const filler = 'a:\r\n'.repeat(3_000);
    const [answer] = await rawExchange(
      server.url,
      `GET / HTTP/1.1\r\n${HOST}Authorization: a\r\n${filler}Authorization: b\r\n\r\n`,
    );
    expectProblem(answer, 400, 'bad_request');
  });

  const served: [string, string][] = [
    ['headers that are lists repeat', `GET /x HTTP/1.1\r\n${HOST}Accept: a/b\r\nAccept: c/d\r\n`],
    ['a request to upgrade', `GET /x HTTP/1.1\r\n${HOST}Upgrade: websocket\r\n`],
    ['an absolute target', `GET http://a.test/x HTTP/1.1\r\n${HOST}`],
    ['http/1.0 without a host', 'GET /x HTTP/1.0\r\n'],
  ];
  test.each(served)('%s: served as any other', async (_, head) => {
    const [answer] = await rawExchange(server.url, `${head}Connection: close\r\n\r\n`);
    expect(answer?.status).toBe(200);
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ url: expect.stringMatching(/\/x$/) });
  });
});

describe('a connection that breaks', () => {
  test('behind a whole request, that request is answered first', async () => {
    const arrived = deferred();
    const released = deferred();
    const server = await serve(async (request) => {
      arrived.resolve();
      await released.promise;
      return echo(request);
    });
    const client = new RawClient(server.url);
    await client.send('GET /first HTTP/1.1\r\nHost: a.test\r\n\r\nnonsense\r\n\r\n');
    await arrived.promise;
    released.resolve();
    const answers = await client.answers(2);
    expect(answers[0]?.status).toBe(200);
    expect(answers[0]?.body).toContain('/first');
    expectProblem(answers[1], 400, 'bad_request');
    await client.ended;
    await server.close();
  });

  test('within a body, the problem is the only answer', async () => {
    const server = await serve(async (request) => Response.json({ length: (await request.text()).length }));
    const head = 'POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await rawExchange(server.url, `${head}zz\r\n`);
    expect(answers).toHaveLength(1);
    expectProblem(answers[0], 400, 'bad_request');
    await server.close();
  });

  const reset: [string, string][] = [
    ['a `CONNECT`', 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n'],
    [
      'a request to upgrade',
      'GET / HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['an answered request', 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['half a request', 'GET / HTTP/1.1\r\nHost: a.test\r\n'],
  ];
  test.each(reset)('by a reset behind %s breaks nothing else', async (what, bytes) => {
    const uncaught: Error[] = [];
    const record = (error: Error) => uncaught.push(error);
    process.on('uncaughtException', record);
    const server = await serve(echo);
    const client = new RawClient(server.url);
    await client.send(bytes);
    if (what !== 'half a request') await client.answers(1);
    client.socket.resetAndDestroy();
    // The server reads the reset before it reads this request: connections are served in the order of their news.
    expect((await fetch(server.url)).status).toBe(200);
    process.off('uncaughtException', record);
    expect(uncaught).toEqual([]);
    await server.close();
  });

  test('before its header is whole in time, the client is told', async () => {
    const server = await serve(echo, { timeouts: { headersMs: 50, requestMs: 50, checkEveryMs: 20 } });
    const [answer] = await rawExchange(server.url, 'GET / HTTP/1.1\r\nHost: a.test\r\n');
    expectProblem(answer, 400, 'bad_request');
    await server.close();
  });
});

describe('an answer before the body was read', () => {
  const TEN_MEGABYTES = 10 * 1024 * 1024;

  test.each(['keep-alive', 'close'])(
    'reaches a client that writes 10 MB before it reads, connection: %s',
    async (connection) => {
      const server = await serve(async () => Response.json({}, { status: 401 }));
      const client = new RawClient(server.url);
      client.socket.pause();
      const head = `POST / HTTP/1.1\r\nHost: a.test\r\nConnection: ${connection}\r\n`;
      await client.send(`${head}Content-Length: ${TEN_MEGABYTES}\r\n\r\n`);
      await client.send('a'.repeat(TEN_MEGABYTES));
      client.socket.resume();
      const [answer] = await client.answers(1);
      expect(answer?.status).toBe(401);
      expect(client.errors).toEqual([]);
      await server.close();
    },
  );

  test('does not keep the connection of a client that goes on sending', async () => {
    const server = await serve(async () => Response.json({}, { status: 401 }), {
      timeouts: { lingerMs: 50 },
    });
    const client = new RawClient(server.url);
    await client.send('POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n');
    while (!client.socket.destroyed) {
      await client.send('5\r\naaaaa\r\n'.repeat(10_000));
    }
    expect(await client.ended).toContain('HTTP/1.1 401');
    await server.close();
  });
});

describe('an app that fails', () => {
  const failures: [string, ServeOptions['fetch']][] = [
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['gives no response', () => undefined as unknown as Response],
  ];
  test.each(failures)(
    'an app that %s is answered as internal_error, logged, and says nothing',
    async (_, app) => {
      const log = recordingLog();
      const server = await serve(app, { log });
      const response = await fetch(`${server.url}/x`, { method: 'POST', body: 'x' });
      const text = await response.text();
      expect(response.status).toBe(500);
      expect(text).not.toContain('secret');
      const problem = JSON.parse(text);
      expect(problem).toMatchObject({ code: 'internal_error' });
      expect(log.lines).toEqual([
        { fields: expect.objectContaining({ request_id: problem.request_id }), message: expect.any(String) },
      ]);
      await server.close();
    },
  );
});

describe('closing', () => {
  test('lets a request in progress end, ends idle connections, and accepts no more', async () => {
    const arrived = deferred();
    const released = deferred();
    const server = await serve(async (request) => {
      if (request.url.endsWith('/slow')) {
        arrived.resolve();
        await released.promise;
      }
      return echo(request);
    });
    const unused = new RawClient(server.url);
    const idle = new RawClient(server.url);
    await idle.send('GET /idle HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await idle.answers(1);
    const slow = new RawClient(server.url);
    await slow.send('GET /slow HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await arrived.promise;

    const closed = server.close();
    await idle.ended;
    await unused.ended;
    await expect(fetch(server.url)).rejects.toThrow('fetch failed');
    released.resolve();
    const [answer] = await slow.answers(1);
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await closed;
  });

  test('cuts a request that does not end in time', async () => {
    const arrived = deferred();
    const server = await serve(
      () => {
        arrived.resolve();
        return new Promise<Response>(() => undefined);
      },
      { timeouts: { drainMs: 50 } },
    );
    const client = new RawClient(server.url);
    await client.send('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await arrived.promise;
    await server.close();
    expect(await client.ended).toBe('');
  });
});

describe('listening', () => {
  test('a port in use is one clear message', async () => {
    const server = await serve(echo);
    const { port } = new URL(server.url);
    await expect(serve(echo, { port: Number(port) })).rejects.toThrow(
      `cannot listen on 127.0.0.1 port ${port} (EADDRINUSE). Set PORT or HOST to another`,
    );
    await server.close();
  });

  test('an address of ipv6 stands in brackets in the url, a wildcard as loopback', async () => {
    const six = await serve(echo, { hostname: '::1' });
    expect(six.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(six.url)).status).toBe(200);
    await six.close();
    const all = await serve(echo, { hostname: '0.0.0.0' });
    expect(all.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await all.close();
  });
});
