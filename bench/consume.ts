import { randomBytes } from 'node:crypto';
import type { ConsumeRequest } from '../src/core/approval_ports.ts';
import { sha256Hex } from '../src/core/digest.ts';
import { consumeStatement } from '../src/storage/consume.ts';
import { buildRequest, type HttpClient } from './http_client.ts';
import { type Comparison, compare, type LoadResult, runLoad } from './load.ts';
import { median, quantile } from './stats.ts';
import { approvalPath, CONCURRENCY, type World } from './world.ts';

const ALONE = 1;

function buildConsume({ server, pattern }: World, approvalId: string): Buffer {
  const body = { action_hash: pattern.actionHash, consumer_token: randomBytes(32).toString('hex') };
  const path = `${approvalPath(approvalId)}/consume`;
  return buildRequest(server.url, 'POST', path, server.tokens.AGENT, JSON.stringify(body));
}

async function assertConsumed({ sql }: World, approvalIds: readonly string[]): Promise<void> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from approvals
    where approval_id = any(${[...approvalIds]}::uuid[]) and status = 'consumed'`;
  if (row?.count !== approvalIds.length) {
    throw new Error(`${approvalIds.length} consumes were answered, but ${row?.count} are in the database`);
  }
}

/** Consumes fresh approvals through the API, each once. */
async function runConsumes(world: World, concurrency: number, operations: number): Promise<LoadResult> {
  const approvalIds = await world.makeApproved(operations);
  const requests = approvalIds.map((id) => buildConsume(world, id));
  const result = await runLoad({
    concurrency,
    operations,
    run: async (operation, worker) => {
      const client = world.clients[worker] as HttpClient;
      const { status, body } = await client.send(requests[operation] as Buffer);
      if (status !== 200 || !body.includes('"replayed":false'))
        throw new Error(`consume answered ${status}: ${body}`);
    },
  });
  await assertConsumed(world, approvalIds);
  return result;
}

/** The same statement, one request each, straight through the driver on as many connections as the service has. */
async function runRawConsumes(world: World, operations: number): Promise<LoadResult> {
  const { sql, pattern } = world;
  const approvalIds = await world.makeApproved(operations);
  const requests = approvalIds.map(
    (approvalId): ConsumeRequest => ({
      tenantId: pattern.tenantId,
      approvalId,
      agent: pattern.agent,
      keyId: pattern.keyId,
      policyRevision: pattern.policyRevision,
      actionHash: pattern.actionHash,
      consumerTokenHash: sha256Hex(randomBytes(32).toString('hex')),
      binding: {},
      attemptKey: `attempt:${sha256Hex(approvalId)}`,
      attemptLimit: 5,
    }),
  );
  const result = await runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: async (operation) => {
      const rows = await consumeStatement(sql, [requests[operation] as ConsumeRequest], 'skip locked');
      if (rows.length !== 1) throw new Error('the raw statement consumed nothing');
    },
  });
  await assertConsumed(world, approvalIds);
  return result;
}

/** Consume against its own statement, both by 64 at once. */
export async function measureConsume(world: World, rounds: number, operations: number): Promise<Comparison> {
  await runRawConsumes(world, operations);
  await runConsumes(world, CONCURRENCY, operations);
  return compare(
    rounds,
    () => runConsumes(world, CONCURRENCY, operations),
    () => runRawConsumes(world, operations),
  );
}

export interface Contention {
  /** Of a consume that nobody else contends for, in milliseconds. */
  aloneMs: { p50: number; p99: number };
  /** Of those told that somebody else was first. */
  losersMs: { p50: number; p99: number; max: number };
}

/** 64 consumers of one approval, again and again: exactly one wins each time. */
export async function measureContention(world: World, rounds: number): Promise<Contention> {
  const alone = await runConsumes(world, ALONE, rounds * 10);
  const losers: number[] = [];
  for (const approvalId of await world.makeApproved(rounds)) {
    let winners = 0;
    const requests = world.clients.map(() => buildConsume(world, approvalId));
    await runLoad({
      concurrency: CONCURRENCY,
      operations: CONCURRENCY,
      run: async (operation, worker) => {
        const sentAt = performance.now();
        const { status, body } = await (world.clients[worker] as HttpClient).send(
          requests[operation] as Buffer,
        );
        if (status === 200) winners += 1;
        else if (status === 409 && body.includes('approval_already_consumed'))
          losers.push(performance.now() - sentAt);
        else throw new Error(`a contended consume answered ${status}: ${body}`);
      },
    });
    if (winners !== 1) throw new Error(`${winners} of ${CONCURRENCY} consumers of one approval won`);
    await assertConsumed(world, [approvalId]);
  }
  return {
    aloneMs: { p50: median(alone.latencies), p99: quantile(alone.latencies, 0.99) },
    losersMs: { p50: median(losers), p99: quantile(losers, 0.99), max: quantile(losers, 1) },
  };
}
