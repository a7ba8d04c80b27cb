import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { CONNECTIONS_PER_KEY_MAX } from '../../src/http/rpc/connection_table.ts';
import { isForeignOrigin } from '../../src/http/rpc/handshake.ts';
import { newAgent } from '../contract/support.ts';
import { RpcClient } from '../support/rpc_client.ts';
import { startTestService } from '../support/test_service.ts';
import { RawClient } from './raw_http.ts';

const BOOTSTRAP = `${randomBytes(24).toString('hex')}+/a=`;
const service = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000' } });
const slashed = await startTestService({ env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: BOOTSTRAP } });
afterAll(async () => {
  await slashed.close();
  await service.close();
});

const { AGENT, APPROVER } = service.tokens;
const HOST = new URL(service.url).host;
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const WEBSOCKET = [
  'connection: Upgrade',
  'upgrade: websocket',
  `sec-websocket-key: ${KEY}`,
  'sec-websocket-version: 13',
];
const bearer = (token: string) => `authorization: Bearer ${token}`;

/** Sends a request's header as it is, and reads the one answer. */
async function send(start: string, headers: string[], body = '') {
  const client = new RawClient(service.url);
  await client.send(`${start} HTTP/1.1\r\nhost: ${HOST}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  const [answer] = await client.answers(1);
  client.socket.destroy();
  return { ...answer, problem: answer?.status === 101 ? undefined : JSON.parse(answer?.body ?? '') };
}

const handshake = (headers: string[], path = '/v1/rpc') => send(`GET ${path}`, [...WEBSOCKET, ...headers]);

describe('a connection opens', () => {
  test('with a credential in `authorization`, with and without the subprotocol', async () => {
    const plain = await RpcClient.open(service.url, AGENT);
    expect(plain.socket.protocol).toBe('');
    const named = await RpcClient.open(service.url, AGENT, { protocols: ['other', 'aegis.rpc'] });
    expect(named.socket.protocol).toBe('aegis.rpc');
    await Promise.all([plain.close(), named.close()]);
  });

  test('with the credential as a subprotocol, which is never answered', async () => {
    const answer = await handshake([`sec-websocket-protocol: aegis.bearer.${APPROVER}, aegis.rpc`]);
    expect(answer.status).toBe(101);
    expect(answer.headers?.['sec-websocket-protocol']).toBe('aegis.rpc');
    expect(JSON.stringify(answer)).not.toContain(APPROVER);
  });

  test('in a browser’s manner: as the page of this very host, and the answers come', async () => {
    const protocols = ['aegis.rpc', `aegis.bearer.${APPROVER}`];
    const socket = new WebSocket(`ws://${HOST}/v1/rpc`, protocols, { origin: service.url });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'exec.approvals.pending' }));
    const [data] = await new Promise<[Buffer]>((resolve) =>
      socket.once('message', (...args) => resolve(args as never)),
    );
    expect(JSON.parse(data.toString())).toEqual({ jsonrpc: '2.0', id: 1, result: { pending: [] } });
    socket.close();
  });

  test('without compression, though it is offered', async () => {
    const answer = await handshake([bearer(AGENT), 'sec-websocket-extensions: permessage-deflate']);
    expect(answer.status).toBe(101);
    expect(answer.headers).not.toHaveProperty('sec-websocket-extensions');
  });
});

describe('a connection is refused with a problem', () => {
  test.each([
    ['no credential', []],
    ['an unknown one', [bearer(`aeg_x_${'a'.repeat(43)}`)]],
    ['another scheme', ['authorization: Basic YTpi']],
    [
      'two, of which each would do',
      [bearer(AGENT), `sec-websocket-protocol: aegis.rpc, aegis.bearer.${AGENT}`],
    ],
    [
      'two subprotocols',
      [`sec-websocket-protocol: aegis.rpc, aegis.bearer.${AGENT}, aegis.bearer.${APPROVER}`],
    ],
    ['an empty subprotocol', ['sec-websocket-protocol: aegis.rpc, aegis.bearer.']],
    ['a subprotocol that names the header', ['sec-websocket-protocol: aegis.rpc, aegis.bearer.Bearer']],
  ])('401 for %s', async (_, headers) => {
    const answer = await handshake(headers);
    expect(answer).toMatchObject({
      status: 401,
      problem: { code: 'unauthenticated', status: 401 },
      headers: { 'content-type': 'application/problem+json', 'www-authenticate': 'Bearer' },
    });
    expect(answer.headers?.['cache-control']).toBe('no-store');
  });

  test.each([
    ['no key', ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13']],
    [
      'a short key',
      ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: YQ=='],
    ],
    [
      'another version',
      ['connection: upgrade', 'upgrade: websocket', `sec-websocket-key: ${KEY}`, 'sec-websocket-version: 8'],
    ],
    [
      'two protocols at once',
      [
        'connection: upgrade',
        'upgrade: websocket, h2c',
        `sec-websocket-key: ${KEY}`,
        'sec-websocket-version: 13',
      ],
    ],
  ])('400 for a handshake with %s', async (_, headers) => {
    const answer = await send('GET /v1/rpc', [...headers, bearer(AGENT)]);
    expect(answer).toMatchObject({ status: 400, problem: { code: 'bad_request' } });
  });

  test.each([
    ['subprotocols without the one spoken', `aegis.bearer.${AGENT}`],
    ['a subprotocol twice', `aegis.rpc, aegis.rpc, aegis.bearer.${AGENT}`],
    ['an empty list', ','],
    ['a token that no subprotocol can hold', `aegis.rpc, aegis.bearer.${BOOTSTRAP}`],
  ])('400 for %s', async (_, protocols) => {
    const answer = await handshake([`sec-websocket-protocol: ${protocols}`]);
    expect(answer).toMatchObject({ status: 400, problem: { code: 'bad_request' } });
    expect(answer.body).not.toContain(BOOTSTRAP);
  });

  test('such a token opens a connection in `authorization`', async () => {
    const client = await RpcClient.open(slashed.url, BOOTSTRAP);
    expect(await client.call('exec.approvals.pending')).toEqual({ pending: [] });
    await client.close();
  });

  test('400 for a repeated header, a second host and no `get`', async () => {
    expect((await handshake([bearer(AGENT), bearer(AGENT)])).problem.code).toBe('bad_request');
    expect((await handshake([bearer(AGENT), 'host: other.test'])).problem.code).toBe('bad_request');
    const posted = await send('POST /v1/rpc', [...WEBSOCKET, bearer(AGENT), 'content-length: 0']);
    expect(posted.problem.code).toBe('bad_request');
  });

  test('422 for a query: a token in it would stand in logs', async () => {
    const answer = await handshake([bearer(AGENT)], `/v1/rpc?token=${AGENT}`);
    expect(answer).toMatchObject({ status: 422, problem: { code: 'invalid_request' } });
    expect(answer.body).not.toContain(AGENT);
  });

  test.each([
    'https://evil.example',
    'null',
    `http://${HOST}.evil.example`,
    `http://evil.example/${HOST}`,
    'http://127.0.0.1',
    'file://',
    `ws://${HOST}`,
    '',
  ])('403 for the foreign origin `%s`, whatever the credential', async (origin) => {
    const answer = await handshake([bearer(AGENT), `origin: ${origin}`]);
    expect(answer).toMatchObject({ status: 403, problem: { code: 'forbidden' } });
  });

  test('403 for a frozen agent', async () => {
    const { token, principal } = await newAgent(service);
    await service.operator.post(`/v1/agents/${principal}/freeze`);
    expect(await handshake([bearer(token)])).toMatchObject({
      status: 403,
      problem: { code: 'agent_frozen' },
    });
  });

  test('429 over the connections that a key may have; one that closes makes room', async () => {
    const { token } = await newAgent(service);
    const clients = await Promise.all(
      Array.from({ length: CONNECTIONS_PER_KEY_MAX }, () => RpcClient.open(service.url, token)),
    );
    const answer = await handshake([bearer(token)]);
    expect(answer).toMatchObject({ status: 429, problem: { code: 'throttled' } });
    expect(Number(answer.headers?.['retry-after'])).toBeGreaterThan(0);
    await clients[0]?.close();
    await expect.poll(async () => (await handshake([bearer(token)])).status, { timeout: 5_000 }).toBe(101);
    await Promise.all(clients.slice(1).map((client) => client.close()));
  });

  test('429 when the address has failed too often, also with failures of REST', async () => {
    const strict = await startTestService({ env: { AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '2' } });
    await strict.anonymous.get('/v1/me');
    const status = () =>
      RpcClient.open(strict.url, 'nonsense').then(
        () => 'open',
        (error: Error) => error.message,
      );
    expect(await status()).toContain('401');
    expect(await status()).toContain('429');
    const client = await RpcClient.open(strict.url, strict.tokens.AGENT);
    await client.close();
    await strict.close();
  });
});

describe('a request that asks for another protocol', () => {
  const H2C = [
    'connection: Upgrade, HTTP2-Settings',
    'upgrade: h2c',
    'http2-settings: AAMAAABkAAQAoAAAAAIAAAAA',
  ];

  test('where none is spoken is served as any other, with its body and its connection', async () => {
    const body = JSON.stringify({
      tool_call: { tool: 'crm', action: 'x', mutates_state: false, parameters: {} },
    });
    const client = new RawClient(service.url);
    const head = [
      'POST /v1/authorize HTTP/1.1',
      `host: ${HOST}`,
      bearer(AGENT),
      'content-type: application/json',
      `content-length: ${body.length}`,
      ...H2C,
    ];
    await client.send(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
    await client.send(body.slice(10));
    const [first] = await client.answers(1);
    expect(first?.status).toBe(200);
    expect(JSON.parse(first?.body ?? '').decision).toBe('deny');
    await client.send(
      `GET /v1/me HTTP/1.1\r\nhost: ${HOST}\r\n${bearer(AGENT)}\r\n${H2C.join('\r\n')}\r\n\r\n`,
    );
    const [, second] = await client.answers(2);
    expect(JSON.parse(second?.body ?? '').principal).toBe('agent-1');
    client.socket.destroy();
  });

  test('by websocket elsewhere is served as any other', async () => {
    expect(await handshake([bearer(AGENT)], '/v1/nothing')).toMatchObject({
      status: 404,
      problem: { code: 'not_found' },
    });
    expect(await handshake([bearer(AGENT)], '/v1/me')).toMatchObject({ status: 200 });
    expect(await handshake([], '/v1/me')).toMatchObject({ status: 401 });
  });

  test('but websocket where websocket is spoken is told so, and so is one that asks for none', async () => {
    for (const headers of [H2C, [], ['upgrade: websocket']]) {
      const answer = await send('GET /v1/rpc', [...headers, bearer(AGENT)]);
      expect(answer).toMatchObject({ status: 400, problem: { code: 'bad_request' } });
      expect(answer.problem.detail).toContain('websocket');
    }
    expect((await service.agent.post('/v1/rpc')).status).toBe(405);
  });

  test('behind one that is not answered yet is refused after that answer', async () => {
    const client = new RawClient(service.url);
    const me = `GET /v1/me HTTP/1.1\r\nhost: ${HOST}\r\n${bearer(AGENT)}\r\n\r\n`;
    await client.send(
      `${me}GET /v1/rpc HTTP/1.1\r\nhost: ${HOST}\r\n${[...WEBSOCKET, bearer(AGENT)].join('\r\n')}\r\n\r\n`,
    );
    const answers = await client.answers(2);
    expect(answers.map((answer) => answer.status)).toEqual([200, 400]);
    await client.ended;
  });
});

test.each([
  [undefined, 'a.test', false],
  ['http://a.test', 'a.test', false],
  ['http://a.test', 'A.TEST:80', false],
  ['https://a.test', 'a.test', false],
  ['https://a.test', 'a.test:443', false],
  ['https://a.test:8443', 'a.test:8443', false],
  ['http://[::1]:8080', '[::1]:8080', false],
  ['https://a.test', 'a.test:80', true],
  ['http://a.test:8080', 'a.test', true],
  ['http://b.a.test', 'a.test', true],
  ['http://a.test', undefined, true],
  ['chrome-extension://a.test', 'a.test', true],
  ['null', 'null', true],
  ['a.test', 'a.test', true],
])('the origin %s at the host %s is foreign: %s', (origin, host, expected) => {
  expect(isForeignOrigin(origin, host)).toBe(expected);
});
