import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemResponse } from '../../src/http/problem.ts';
import { BODY_LIMITS, readJsonBody } from '../../src/http/read_body.ts';
import { newRequestId } from '../../src/http/request_id.ts';
import { type RunningServer, serveApp } from '../../src/http/server.ts';
import { deferred, parseAnswers, type RawAnswer, RawClient, rawExchange, recordingLog } from './raw_http.ts';

const LIMITS = { ...BODY_LIMITS, timeoutMs: 300 };
const TEN_MEGABYTES = 10 * 1024 * 1024;
const HEAD = 'POST / HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\n';

let server: RunningServer;
beforeAll(async () => {
  server = await serveApp({
    hostname: '127.0.0.1',
    port: 0,
    log: recordingLog(),
    fetch: async (request, { incoming }) => {
      try {
        const body = await readJsonBody(request, { ...LIMITS, required: false, incoming });
        return Response.json({ body: body ?? 'absent' });
      } catch (error) {
        return problemResponse(error, { requestId: newRequestId() });
      }
    },
  });
});
afterAll(() => server.close());

function expectCode(answer: RawAnswer | undefined, status: number, code: string): void {
  expect(answer).toMatchObject({ status, body: expect.stringContaining(`"code":"${code}"`) });
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** A JSON string of that many bytes, quotes included. */
function jsonOfBytes(bytes: number): string {
  return JSON.stringify('a'.repeat(bytes - 2));
}

describe('over a real connection', () => {
  test('a body of the limit is read whole, one byte more is body_too_large, framed either way', async () => {
    for (const framed of [
      (text: string) => `${HEAD}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
      (text: string) =>
        `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk(text.slice(0, 9))}${chunk(text.slice(9))}0\r\n\r\n`,
    ]) {
      const [whole] = await rawExchange(server.url, framed(jsonOfBytes(LIMITS.bytesMax)));
      expect(whole?.status).toBe(200);
      const [over] = await rawExchange(server.url, framed(jsonOfBytes(LIMITS.bytesMax + 1)));
      expectCode(over, 413, 'body_too_large');
    }
  });

  test.each(['keep-alive', 'close'])(
    'a client that writes 10 MB with a content length before it reads gets the answer, connection: %s',
    async (connection) => {
      const client = new RawClient(server.url);
      client.socket.pause();
      await client.send(`${HEAD}Content-Length: ${TEN_MEGABYTES}\r\nConnection: ${connection}\r\n\r\n`);
      await client.send('a'.repeat(TEN_MEGABYTES));
      client.socket.resume();
      const [answer] = await client.answers(1);
      expectCode(answer, 413, 'body_too_large');
      expect(client.errors).toEqual([]);
      client.socket.destroy();
    },
  );

  test.each(['keep-alive', 'close'])(
    'a client that writes 10 MB in chunks before it reads gets the answer, connection: %s',
    async (connection) => {
      const client = new RawClient(server.url);
      client.socket.pause();
      await client.send(`${HEAD}Transfer-Encoding: chunked\r\nConnection: ${connection}\r\n\r\n`);
      for (let sent = 0; sent < TEN_MEGABYTES; sent += 65_536) {
        await client.send(chunk('a'.repeat(65_536)));
      }
      await client.send('0\r\n\r\n');
      client.socket.resume();
      const [answer] = await client.answers(1);
      expectCode(answer, 413, 'body_too_large');
      expect(client.errors).toEqual([]);
      client.socket.destroy();
    },
  );

  test('a body of endless chunks is answered, and its connection is ended', async () => {
    const client = new RawClient(server.url);
    await client.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    while (!client.socket.destroyed) {
      await client.send(chunk('a'.repeat(65_536)));
    }
    const [answer] = parseAnswers(await client.ended);
    expectCode(answer, 413, 'body_too_large');
  });

  test('a body that drips is bad_request at the deadline, and its connection is ended', async () => {
    const client = new RawClient(server.url);
    await client.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const drip = setInterval(() => void client.send(chunk(' ')), 20);
    const [answer] = await client.answers(1);
    expectCode(answer, 400, 'bad_request');
    await client.ended;
    clearInterval(drip);
  });

  test('a body that stops short of its content length is bad_request at the deadline', async () => {
    const answers = await rawExchange(server.url, `${HEAD}Content-Length: 10\r\n\r\n{}`);
    expectCode(answers[0], 400, 'bad_request');
  });

  test('a client that goes away within its body ends the read', async () => {
    const refused = deferred();
    const listening = await serveApp({
      hostname: '127.0.0.1',
      port: 0,
      log: recordingLog(),
      fetch: async (request, { incoming }) => {
        client.socket.destroy();
        const read = readJsonBody(request, { ...BODY_LIMITS, required: false, incoming });
        await expect(read).rejects.toMatchObject({ code: 'bad_request' });
        refused.resolve();
        return Response.json({});
      },
    });
    const client = new RawClient(listening.url);
    await client.send(`${HEAD}Content-Length: 10\r\n\r\n{`);
    await refused.promise;
    await listening.close();
  });

  test('the same connection serves on after a body over the limit that ends', async () => {
    const client = new RawClient(server.url);
    const text = jsonOfBytes(LIMITS.bytesMax + 1);
    await client.send(`${HEAD}Content-Length: ${text.length}\r\n\r\n${text}`);
    await client.answers(1);
    await client.send(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    const [over, next] = await client.answers(2);
    expectCode(over, 413, 'body_too_large');
    expect(next).toMatchObject({ status: 200, body: '{"body":{}}' });
    client.socket.destroy();
  });

  test('a body over the limit is body_too_large for fetch, whole or streamed', async () => {
    const headers = { 'content-type': 'application/json' };
    const whole = await fetch(server.url, { method: 'POST', headers, body: 'a'.repeat(TEN_MEGABYTES) });
    expect(whole.status).toBe(413);
    const stream = new Blob(['a'.repeat(TEN_MEGABYTES)]).stream();
    const streamed = await fetch(server.url, {
      method: 'POST',
      headers,
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(await streamed.json()).toMatchObject({ code: 'body_too_large' });
  });

  test('bytes that arrive one by one are one body', async () => {
    const client = new RawClient(server.url);
    const text = '{"name":"é"}';
    await client.send(`${HEAD}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n`);
    for (const byte of Buffer.from(text)) {
      await client.send(Buffer.of(byte));
    }
    const [answer] = await client.answers(1);
    expect(answer).toMatchObject({ status: 200, body: `{"body":${text}}` });
    client.socket.destroy();
  });

  const absent: [string, string][] = [
    ['no framing at all', ''],
    ['a length of zero', 'Content-Length: 0\r\n'],
    ['a length of zero under another type', 'Content-Length: 0\r\nContent-Type: text/plain\r\n'],
  ];
  test.each(absent)('%s is an absent body', async (_, headers) => {
    const [answer] = await rawExchange(
      server.url,
      `POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n${headers}\r\n`,
    );
    expect(answer).toMatchObject({ status: 200, body: '{"body":"absent"}' });
  });

  test('a chunked body without bytes is an absent one', async () => {
    const [answer] = await rawExchange(
      server.url,
      `${HEAD}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(answer).toMatchObject({ status: 200, body: '{"body":"absent"}' });
  });
});

describe('a request without a server', () => {
  function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
    return new Request('http://a.test/', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
      duplex: 'half',
    } as RequestInit);
  }
  function read(request: Request, required = true) {
    return readJsonBody(request, { ...LIMITS, required });
  }

  test('json is read, in utf-8 and said so in any way', async () => {
    for (const type of [
      'application/json',
      'Application/JSON',
      'application/json;charset=utf-8',
      'application/json; charset="UTF-8"',
      'application/json;',
    ]) {
      expect(await read(post('{"a":[1]}', { 'content-type': type }))).toEqual({ a: [1] });
    }
    expect(await read(post('null', { 'content-encoding': 'identity' }))).toBe(null);
  });

  test.each([
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/problem+json' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'application/json, application/json' },
    { 'content-type': '' },
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'identity, identity' },
  ])('%o is unsupported_media_type, which names the header and the curl option', async (headers) => {
    const refused = read(post('{}', headers as Record<string, string>));
    await expect(refused).rejects.toMatchObject({
      code: 'unsupported_media_type',
      detail: expect.stringMatching(/`content-type: application\/json`.*`curl --json`/),
    });
  });

  test('an absent body is undefined where it may be, else invalid_request', async () => {
    expect(await read(post(null), false)).toBeUndefined();
    expect(await read(post('', { 'content-length': '0' }), false)).toBeUndefined();
    await expect(read(post(null))).rejects.toMatchObject({
      code: 'invalid_request',
      issues: [{ pointer: '', reason: 'is required' }],
    });
    await expect(read(post(''))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('the strict reader judges the raw bytes', async () => {
    await expect(read(post('{"a":1,"a":2}'))).rejects.toMatchObject({
      issues: [{ pointer: '/a', reason: 'duplicate_member' }],
    });
    await expect(read(post(Uint8Array.of(0x22, 0xff, 0x22)))).rejects.toMatchObject({
      issues: [{ pointer: '', reason: 'invalid_utf8' }],
    });
  });

  test('a stream over the limit, too slow, or broken is refused', async () => {
    await expect(read(post(jsonOfBytes(LIMITS.bytesMax + 1)))).rejects.toMatchObject({
      code: 'body_too_large',
    });
    await expect(read(post('{}', { 'content-length': '999999' }))).rejects.toMatchObject({
      code: 'body_too_large',
    });
    await expect(read(post(new ReadableStream()))).rejects.toMatchObject({ code: 'bad_request' });
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    await expect(read(post(broken))).rejects.toMatchObject({ code: 'bad_request' });
  });
});
