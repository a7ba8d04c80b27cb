import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { IN_FLIGHT_MAX } from '../../src/http/rpc/connection.ts';
import { BATCH_MAX } from '../../src/http/rpc/json_rpc.ts';
import { ask } from '../support/calls.ts';
import { command } from '../support/commands.ts';
import { createRpcOpener, type RpcClient } from '../support/rpc_client.ts';
import { startTestService } from '../support/test_service.ts';
import { newAgent, ROOMY, readApproval } from './support.ts';

// What is sent as it should not be, and what JSON-RPC 2.0 has for it.

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const openAt = createRpcOpener();
const open = (token = service.tokens.APPROVER) => openAt(service.url, token);

/** The next message that is no answer to a `call`. */
// biome-ignore lint/suspicious/noExplicitAny: an answer's members are what a test asserts
async function answerTo(client: RpcClient, sent: unknown): Promise<any> {
  const seen = client.others.length;
  client.send(sent);
  await vi.waitFor(() => expect(client.others.length).toBeGreaterThan(seen), {
    timeout: 10_000,
    interval: 5,
  });
  return client.others[seen];
}

const PENDING = { jsonrpc: '2.0', method: 'exec.approvals.pending' };
const isPending = { jsonrpc: '2.0', result: { pending: expect.any(Array) } };

describe('a frame', () => {
  test.each([
    ['no json', '{"jsonrpc": "2.0", "method"', 'syntax'],
    ['nothing', '', 'syntax'],
    ['a member that stands twice', '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', 'duplicate_member'],
    [
      'the same behind an escape',
      '{"jsonrpc":"2.0","id":1,"m\\u0065thod":"a","method":"b"}',
      'duplicate_member',
    ],
    ['a lone surrogate', '{"jsonrpc":"2.0","id":"\\ud800","method":"a"}', 'lone_surrogate'],
    ['a prototype', '{"jsonrpc":"2.0","id":1,"method":"a","params":{"__proto__":{}}}', 'reserved_member'],
    [
      'a number that is not exact',
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"a"}',
      'inexact_number',
    ],
    ['too deep a nesting', `${'['.repeat(100)}${']'.repeat(100)}`, 'too_deep'],
    ['two texts', '{} {}', 'syntax'],
  ])('of %s is −32700, and the connection goes on', async (_, text, reason) => {
    const client = await open();
    expect(await answerTo(client, text)).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, data: { code: 'invalid_json', errors: [{ reason }] } },
    });
    expect(await client.call('exec.approvals.pending')).toHaveProperty('pending');
  });

  test.each([
    ['a number', 1, null],
    ['a string', '"a"', null],
    ['null', 'null', null],
    ['an empty batch', [], null],
    ['no version', { id: 1, method: 'exec.approvals.pending' }, 1],
    ['another version', { ...PENDING, jsonrpc: '1.0', id: 1 }, 1],
    ['a number as version', { ...PENDING, jsonrpc: 2.0, id: 1 }, 1],
    ['no method', { jsonrpc: '2.0', id: 'x' }, 'x'],
    ['a method that is no string', { jsonrpc: '2.0', id: 1, method: 1 }, 1],
    ['an endless method', { jsonrpc: '2.0', id: 1, method: 'm'.repeat(1000) }, 1],
    ['an id that is an object', { ...PENDING, id: {} }, null],
    ['an id that is true', { ...PENDING, id: true }, null],
    ['an endless id', { ...PENDING, id: 'i'.repeat(1000) }, null],
    ['params that are a string', { ...PENDING, id: 1, params: 'a' }, 1],
    ['params that are null', { ...PENDING, id: 1, params: null }, 1],
    ['an unknown member', { ...PENDING, id: 1, auth: 'x' }, 1],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }, 1],
    [
      'more than a batch may hold',
      Array.from({ length: BATCH_MAX + 1 }, (_, id) => ({ ...PENDING, id })),
      null,
    ],
  ])('that is %s is −32600', async (_, sent, id) => {
    const client = await open();
    const answer = await answerTo(client, sent);
    expect(answer).toMatchObject({ jsonrpc: '2.0', id, error: { code: -32600, data: { status: 422 } } });
    expect(answer).not.toHaveProperty('result');
  });

  test('of bytes that are no text ends the connection with 1003', async () => {
    const client = await open();
    client.socket.send(Buffer.from(JSON.stringify({ ...PENDING, id: 1 })), { binary: true });
    expect(await client.closed).toMatchObject({ code: 1003 });
    expect(client.others).toEqual([]);
  });

  test('of text that is no utf-8 ends the connection with 1007', async () => {
    const client = await open();
    client.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect(await client.closed).toMatchObject({ code: 1007 });
  });

  test('over 256 KiB ends the connection with 1009, in one part or many', async () => {
    const whole = await open();
    whole.send(' '.repeat(256 * 1024 + 1));
    expect(await whole.closed).toMatchObject({ code: 1009 });
    const parts = await open();
    for (let part = 0; part < 5; part += 1) parts.socket.send(' '.repeat(64 * 1024), { fin: false });
    expect(await parts.closed).toMatchObject({ code: 1009 });
  });

  test('of 256 KiB is read', async () => {
    const client = await open();
    const text = JSON.stringify({ ...PENDING, id: 'whole' });
    const answer = await answerTo(client, text + ' '.repeat(256 * 1024 - text.length));
    expect(answer).toMatchObject({ ...isPending, id: 'whole' });
  });
});

describe('a request', () => {
  test('of an unknown method is −32601, also one that names a member of objects', async () => {
    const client = await open();
    for (const method of ['exec.approval.list', 'EXEC.APPROVALS.PENDING', 'constructor', '__proto__', '']) {
      expect(await client.fail(method)).toMatchObject({ code: -32601 });
    }
  });

  test('is answered under its id, be it a string, a fraction or null', async () => {
    const client = await open();
    for (const id of ['', 'a', 0, -1, 1.5, null]) {
      expect(await answerTo(client, { ...PENDING, id })).toMatchObject({ ...isPending, id });
    }
  });

  test.each([
    ['exec.approvals.pending', { limit: 1 }, '/limit'],
    ['exec.approvals.pending', [], ''],
    ['exec.approval.resolve', {}, '/id'],
    ['exec.approval.resolve', { id: 1, decision: 'deny' }, '/id'],
    ['exec.approval.resolve', { id: '', decision: 'deny' }, '/id'],
    ['exec.approval.resolve', { id: 'a', decision: 'allow' }, '/decision'],
    ['exec.approval.resolve', { id: 'a', decision: 'toString' }, '/decision'],
    ['exec.approval.resolve', { id: 'a', decision: 'deny', reason: '\u202e' }, '/reason'],
    ['exec.approval.resolve', { id: 'a', decision: 'deny', action_hash: 'A' }, '/action_hash'],
    ['exec.approval.resolve', { id: 'a', decision: 'deny', approver: 'me' }, '/approver'],
  ])('%s %j is −32602 and names the place', async (method, params, pointer) => {
    const client = await open();
    const failure = await client.fail(method, params);
    expect(failure).toMatchObject({ code: -32602, data: { code: 'invalid_request' } });
    expect(failure.data.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer);
  });

  test.each([
    [{}, '/command'],
    [{ command: '' }, '/command'],
    [{ command: 'ls', command_argv: 'ls' }, '/command_argv'],
    [{ command: 'ls', env: { A: 1 } }, '/env/A'],
    [{ command: 'ls', timeout_ms: 0 }, '/timeout_ms'],
    [{ command: 'ls', timeout_ms: 1e12 }, '/timeout_ms'],
    [{ command: 'ls', session_key: 'a\u0000b' }, '/session_key'],
    [{ command: 'ls', two_phase: 'yes' }, '/two_phase'],
    [{ command: 'ls', context: {} }, '/context'],
    [{ command: 'ls', source_trust: 'trusted_internal' }, '/source_trust'],
  ])('exec.approval.request %j is −32602 and asks nobody', async (params, pointer) => {
    const client = await open((await newAgent(service)).token);
    const failure = await client.fail('exec.approval.request', params);
    expect(failure).toMatchObject({ code: -32602, data: { code: 'invalid_request' } });
    expect(failure.data.errors.map((issue: { pointer: string }) => issue.pointer)).toContain(pointer);
  });
});

describe('a notification', () => {
  test('is run and not answered, not even when it fails', async () => {
    const agent = await open(service.tokens.AGENT);
    const { id } = await agent.call('exec.approval.request', {
      command: `make ${randomUUID()}`,
      two_phase: true,
    });
    const approver = await open();
    approver.send({ ...PENDING, method: 'no.such.method' });
    approver.send({ ...PENDING, method: 'exec.approval.resolve', params: { id, decision: 'deny' } });
    expect(await agent.call('exec.approval.waitDecision', { id })).toMatchObject({ decision: 'deny' });
    await approver.call('exec.approvals.pending');
    expect(approver.others).toEqual([]);
    expect((await readApproval(service.approver, id)).decided_by).toBe('approver-1');
  });
});

describe('a batch', () => {
  test('is answered in one frame, each part by itself and notifications not at all', async () => {
    const client = await open();
    const answer = await answerTo(client, [
      { ...PENDING, id: 'a' },
      { ...PENDING },
      1,
      { ...PENDING, id: 'b', method: 'nothing' },
      { ...PENDING, id: 'c', params: { x: 1 } },
    ]);
    expect(answer).toMatchObject([
      { ...isPending, id: 'a' },
      { id: null, error: { code: -32600 } },
      { id: 'b', error: { code: -32601 } },
      { id: 'c', error: { code: -32602 } },
    ]);
    expect(answer).toHaveLength(4);
  });

  test('of notifications alone is not answered', async () => {
    const client = await open();
    client.send([PENDING, PENDING]);
    await client.call('exec.approvals.pending');
    expect(client.others).toEqual([]);
  });
});

test('a list of all that one agent may ask for is answered, however large, and its reader not cut off', async () => {
  const agent = await newAgent(service);
  const commands = Array.from({ length: 40 }, (_, index) =>
    command(`echo ${index} ${'q w '.repeat(30_000)}`, null, { env: { A: 'z'.repeat(100_000) } }),
  );
  for (const one of commands) await ask(agent.client, one);
  const reader = await open();
  const { pending } = await reader.call('exec.approvals.pending');

  expect(JSON.stringify(pending).length).toBeGreaterThan(16 * 1024 * 1024);
  expect(pending.filter((one: { agent: string }) => one.agent === agent.principal)).toHaveLength(40);
  expect(await reader.call('exec.approvals.pending')).toMatchObject({ pending: { length: pending.length } });
  await service.operator.post(`/v1/agents/${agent.principal}/freeze`);
}, 120_000);

test('a flood of requests is answered or refused one by one, and others are served meanwhile', async () => {
  const [flooding, other] = [await open(service.tokens.AGENT), await open()];
  const countPending = async () => (await other.call('exec.approvals.pending')).pending.length;
  const waits = Array.from({ length: IN_FLIGHT_MAX * 3 }, () =>
    flooding.call('exec.approval.request', { command: `make ${randomUUID()}`, timeout_ms: 600_000 }).then(
      () => 'answered',
      (error) => (error.data === undefined ? 'cut off' : error.data.code),
    ),
  );
  const refused = await Promise.all(waits.slice(IN_FLIGHT_MAX));
  expect(new Set(refused)).toEqual(new Set(['throttled']));
  const patient = { timeout: 60_000, interval: 100 };
  await vi.waitFor(async () => expect(await countPending()).toBe(IN_FLIGHT_MAX), patient);
  await flooding.close();
  expect(await Promise.all(waits.slice(0, IN_FLIGHT_MAX))).toEqual(Array(IN_FLIGHT_MAX).fill('cut off'));
  await vi.waitFor(async () => expect(await countPending()).toBe(0), patient);
}, 120_000);
