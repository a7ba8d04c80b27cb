import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FirstTokens } from '../../src/cli/first_keys.ts';
import { formatId } from '../../src/core/ids.ts';
import { ask, askApproved, authorize, refund } from '../support/calls.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { createTestDatabase, type TestDatabase } from '../support/test_database.ts';

// NOTHING LOST: an answered request is durable, whenever the service is killed.

// Each start of a process takes a second, and several on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let running: ServiceProcess | undefined;

/** Starts a process; `kill -9` ends it, and the next start is another. */
async function start(env: Record<string, string>): Promise<ServiceProcess> {
  running = await startServiceProcess(env);
  return running;
}

async function kill(): Promise<void> {
  await running?.end('SIGKILL');
  running = undefined;
}

async function killAndRestart(env: Record<string, string>): Promise<ServiceProcess> {
  await kill();
  return start(env);
}

afterAll(kill);

describe('on a database of its own', () => {
  const folder = makeFolder();
  let database: TestDatabase;
  let env: Record<string, string>;
  let tokens: FirstTokens;

  beforeAll(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, AEGIS_DATA_DIR: folder.path };
    const first = await start(env);
    if (first.tokens === undefined) throw new Error('the first start made no keys');
    tokens = first.tokens;
  });
  afterAll(async () => {
    await kill();
    await database.drop();
    folder.remove();
  });

  test('every step of an approval survives kill -9 after its answer', async () => {
    let service = running ?? (await start(env));
    const id = await ask(service.as(tokens.AGENT), refund(200_000));
    await service.as(tokens.APPROVER).post(`/v1/approvals/${id}/approve`, { reason: 'seen' });
    const decided = await service.as(tokens.APPROVER2).post(`/v1/approvals/${id}/approve`);
    expect(decided.body).toMatchObject({
      status: 'approved',
      votes: [{ approver: 'approver-1', reason: 'seen' }, { approver: 'approver-2' }],
    });

    service = await killAndRestart(env);
    const body = { consumer_token: 'a-token-of-this-call' };
    const kept = await service.as(tokens.APPROVER).get(`/v1/approvals/${id}`);
    expect(kept.body).toStrictEqual(decided.body);
    const consumed = await service.as(tokens.AGENT).post(`/v1/approvals/${id}/consume`, body);
    expect(consumed.body).toMatchObject({ status: 'consumed', replayed: false });

    service = await killAndRestart(env);
    const agent = service.as(tokens.AGENT);
    const replayed = await agent.post(`/v1/approvals/${id}/consume`, body);
    expect(replayed.body).toStrictEqual({ ...consumed.body, replayed: true });
    expect((await agent.post(`/v1/approvals/${id}/consume`)).body.code).toBe('approval_already_consumed');
  });

  test('decisions answered up to the kill are there, and answers under an idempotency key are replayed', async () => {
    let service = running ?? (await start(env));
    const agent = service.as(tokens.AGENT);
    const toolCall = refund(9000);
    const options = { headers: { 'Idempotency-Key': 'before-the-kill' } };
    const body = { tool_call: toolCall, context: { source_trust: 'trusted_internal' } };
    const keyed = await agent.post('/v1/authorize', body, options);
    // Killed while requests are under way: what was answered must be there, what was not may be.
    const requests = Array.from({ length: 40 }, () => authorize(agent, refund(100)));
    const answered = Promise.race(requests);
    await answered;
    await kill();
    const settled = await Promise.allSettled(requests);
    const decisionIds = settled.flatMap((one) =>
      one.status === 'fulfilled' ? [one.value.body.decision_id] : [],
    );
    expect(decisionIds.length).toBeGreaterThan(0);
    const stored = await readDecisionIds(database.url);
    expect(decisionIds.filter((id) => !stored.has(id))).toStrictEqual([]);
    service = await start(env);
    const replayed = await service.as(tokens.AGENT).post('/v1/authorize', body, options);
    expect(replayed.body).toStrictEqual(keyed.body);
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('on the embedded database', () => {
  const folder = makeFolder();
  afterAll(() => folder.remove());

  test('an approved approval is consumed after kill -9 and a restart', async () => {
    const env = { AEGIS_DATA_DIR: folder.path };
    let service = await start(env);
    const tokens = service.tokens as FirstTokens;
    const id = await askApproved(service.as(tokens.AGENT), service.as(tokens.APPROVER));
    service = await killAndRestart(env);
    expect(service.tokens).toBeUndefined();
    const consumed = await service.as(tokens.AGENT).post(`/v1/approvals/${id}/consume`);
    expect(consumed.body).toMatchObject({ status: 'consumed', replayed: false });
    await service.end('SIGTERM');
  });
});

async function readDecisionIds(databaseUrl: string): Promise<Set<string>> {
  const sql = postgres(databaseUrl, { max: 1 });
  const rows = await sql<{ decision_id: string }[]>`select decision_id from decisions`;
  await sql.end();
  return new Set(rows.map((row) => formatId('decision', row.decision_id)));
}
