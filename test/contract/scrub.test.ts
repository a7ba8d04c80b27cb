import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask } from '../support/calls.ts';
import { command } from '../support/commands.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectProblem } from './support.ts';

const MIB = 1024 * 1024;
const KEY = ['-----BEGIN PRIV', 'ATE KEY-----'].join('');

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

function scrub(
  rawBody: string | Uint8Array<ArrayBuffer>,
  type = 'text/plain',
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return service.agent.post('/v1/scrub', undefined, {
    rawBody,
    headers: { 'content-type': type, ...headers },
  });
}

function expectVerdict(answer: ApiAnswer, verdict: string, type: string): void {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  expect(answer.headers.get('aegis-scrub-verdict')).toBe(verdict);
  expect(answer.headers.get('content-type')).toBe(type);
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

describe('the output of a command', () => {
  test('without a secret is answered as it is, in its own type', async () => {
    for (const type of ['text/plain', 'application/octet-stream']) {
      const answer = await scrub('total 4\n', type);
      expectVerdict(answer, 'clean', type);
      expect(answer.text).toBe('total 4\n');
    }
  });

  test('loses its secrets, each to the same mask every time', async () => {
    const [one, two] = [await scrub('password="hunter2a" ok'), await scrub('password="hunter2a" ok')];
    expectVerdict(one, 'redacted', 'text/plain');
    expect(one.text).toMatch(/^password="\(secret [0-9a-f]{8}\)" ok$/);
    expect(two.text).toBe(one.text);
  });

  test('has fingerprints of its own, so that nobody can try words for what an approval hides', async () => {
    const scrubbed = await scrub('password="hunter2a"');
    const id = await ask(service.agent, command('ls', ['/bin/ls'], { env: { PASSWORD: 'hunter2a' } }));
    const { body } = await service.approver.get(`/v1/approvals/${id}`);
    const hidden = body.tool_call.parameters.env.PASSWORD;

    expect(hidden).toMatch(/^\(secret [0-9a-f]{8}\)$/);
    expect(scrubbed.text).toMatch(/^password="\(secret [0-9a-f]{8}\)"$/);
    expect(scrubbed.text).not.toContain(hidden);
  });

  test('of any bytes comes out byte for byte', async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
    const response = await fetch(`${service.url}/v1/scrub`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.tokens.AGENT}`,
        'content-type': 'application/octet-stream',
      },
      body: bytes,
    });
    expect(response.headers.get('aegis-scrub-verdict')).toBe('clean');
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
  });

  test('with a private key in it is withheld', async () => {
    const answer = await scrub(`before ${KEY} MIIabc`);
    expectVerdict(answer, 'blocked', 'text/plain');
    expect(answer.text).toBe('');
  });

  test('may be empty', async () => {
    expectVerdict(await scrub(''), 'clean', 'text/plain');
    expectVerdict(await service.agent.post('/v1/scrub'), 'clean', 'application/octet-stream');
  });

  test('may have 1 MiB, and no byte more', async () => {
    expectVerdict(await scrub('a'.repeat(MIB)), 'clean', 'text/plain');
    expectProblem(await scrub('a'.repeat(MIB + 1)), 413, 'body_too_large');
  });

  test('of another type, charset or coding is refused, and the types are named', async () => {
    for (const [type, headers] of [
      ['application/json', {}],
      ['text/html', {}],
      ['text/plain; charset=utf-16', {}],
      ['text/plain', { 'content-encoding': 'gzip' }],
    ] as const) {
      const answer = await scrub('x', type, headers);
      expectProblem(answer, 415, 'unsupported_media_type');
      expect(answer.body.detail).toContain('application/octet-stream');
    }
  });

  test('is taken of agents only', async () => {
    for (const client of [service.approver, service.operator]) {
      const answer = await client.post('/v1/scrub', undefined, {
        rawBody: 'x',
        headers: { 'content-type': 'text/plain' },
      });
      expectProblem(answer, 403, 'forbidden');
    }
    expectProblem(await service.anonymous.post('/v1/scrub'), 401, 'unauthenticated');
  });

  test('is stored nowhere', async () => {
    await scrub('a most unusual sentence about walruses');
    const rows =
      await service.sql`select count(*)::int as n from decisions where canonical_action like '%walrus%'`;
    expect(rows[0]?.n).toBe(0);
  });
});
