import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { JobHandler, JobQueue } from '../../src/core/job_ports.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { sendJobs } from '../../src/storage/job_boss.ts';
import { createJobQueue } from '../../src/storage/jobs.ts';
import { migrateDatabase } from '../../src/storage/migrate.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { startTcpProxy } from '../support/tcp_proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/test_database.ts';

// The queue of jobs beneath webhooks. Both kinds of connection: a pooler's takes no prepared statements.

const QUEUE = 'webhook_deliveries';

let place: TestDatabase;
let sql: postgres.Sql;
let databases: Record<'direct' | 'pooled', Database>;
let jobs: JobQueue | undefined;
const troubles: unknown[] = [];

beforeAll(async () => {
  place = await createTestDatabase();
  await migrateDatabase(place.url, fileURLToPath(new URL('../../drizzle', import.meta.url)));
  sql = postgres(place.url, { max: 2, onnotice: () => undefined });
  databases = {
    direct: openDatabase({ url: place.url, poolMax: 3 }),
    pooled: openDatabase({ url: place.url, poolMax: 3, isPooled: true }),
  };
});
afterEach(async () => {
  await jobs?.close();
  jobs = undefined;
  await sql`delete from pgboss.job`;
  troubles.length = 0;
});
afterAll(async () => {
  await Promise.all(Object.values(databases).map((database) => database.close()));
  await sql.end();
  await place.drop();
});

async function work(database: Database, handler: JobHandler, concurrency = 4): Promise<JobQueue> {
  jobs = await createJobQueue(database, { onTrouble: (error) => troubles.push(error), pollMs: 20 });
  jobs.work(QUEUE, { concurrency }, handler);
  return jobs;
}

function send(database: Database, data: JsonObject, delaySeconds = 0): Promise<void> {
  return inTransaction(database, (tx) => sendJobs(tx, [{ queue: QUEUE, data, delaySeconds, priority: 0 }]));
}

describe.each(['direct', 'pooled'] as const)('jobs over a %s connection', (kind) => {
  test('are worked on once they are committed, and never when they are rolled back', async () => {
    const database = databases[kind];
    const seen: JsonObject[] = [];
    await work(database, async (data) => void seen.push(data));
    const rolledBack = inTransaction(database, async (tx) => {
      await sendJobs(tx, [{ queue: QUEUE, data: { n: 1 }, delaySeconds: 0, priority: 0 }]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    await send(database, { n: 2, text: 'it\'s $1 and \\ "quoted"', list: [1, null, { a: true }] });
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    expect(seen).toStrictEqual([{ n: 2, text: 'it\'s $1 and \\ "quoted"', list: [1, null, { a: true }] }]);
    expect(troubles).toStrictEqual([]);
  });

  test('that fail are tried again', async () => {
    const database = databases[kind];
    let count = 0;
    await work(database, async () => {
      count += 1;
      if (count < 2) throw new Error('not now');
    });
    await send(database, {});
    await vi.waitFor(() => expect(count).toBe(2), { timeout: 10_000 });
    expect(troubles).toHaveLength(1);
    await vi.waitFor(async () => {
      const [row] = await sql`select state::text, output from pgboss.job`;
      expect(row).toStrictEqual({ state: 'completed', output: null });
    });
  });
});

test('one that hangs holds up no other, and no more are worked on than is said', async () => {
  const started: unknown[] = [];
  let release = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    release = resolve;
  });
  await work(
    databases.direct,
    async ({ n }) => {
      started.push(n);
      if (n === 0 || n === 9) await hanging;
    },
    2,
  );
  for (const n of [0, 1, 2, 3, 9, 4]) await send(databases.direct, { n });
  // The first two may have been taken together: then they start at once, in whichever order the database tells them.
  const inOrder = () => [...started.slice(0, 2).toSorted(), ...started.slice(2)];
  try {
    await vi.waitFor(() => expect(inOrder()).toStrictEqual([0, 1, 2, 3, 9]));
  } finally {
    release();
  }
  await vi.waitFor(() => expect(inOrder()).toStrictEqual([0, 1, 2, 3, 9, 4]));
});

test('what is in work when the process stops is aborted and tried again elsewhere', async () => {
  let isStarted = false;
  const queue = await work(databases.direct, (_data, signal) => {
    isStarted = true;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('the process stops')));
    });
  });
  await send(databases.direct, { n: 1 });
  await vi.waitFor(() => expect(isStarted).toBe(true));
  await queue.close();
  expect(troubles).toStrictEqual([]);
  let again = 0;
  await work(databases.direct, async () => {
    again += 1;
  });
  await vi.waitFor(() => expect(again).toBe(1), { timeout: 10_000 });
});

test('a job that waits is left alone until its time', async () => {
  const seen: unknown[] = [];
  await work(databases.direct, async ({ n }) => void seen.push(n));
  await send(databases.direct, { n: 'later' }, 3600);
  await send(databases.direct, { n: 'soon' }, 0.2);
  await vi.waitFor(() => expect(seen).toStrictEqual(['soon']));
  const [row] = await sql`
    select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where data ->> 'n' = 'later'`;
  expect(row?.seconds).toBeGreaterThan(3590);
  expect(row?.seconds).toBeLessThan(3601);
});

test('of those whose time has come the most urgent goes first, then the oldest', async () => {
  await inTransaction(databases.direct, (tx) =>
    sendJobs(
      tx,
      [0, 1, 0].map((priority, n) => ({ queue: QUEUE, data: { n }, delaySeconds: 0, priority })),
    ),
  );
  const seen: unknown[] = [];
  await work(databases.direct, async ({ n }) => void seen.push(n), 1);
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  expect(seen[0]).toBe(1);
});

test('a queue that cannot be read is said to be in trouble once, and worked on when it can', async () => {
  await sql`alter table pgboss.job rename to lost_job`;
  const seen: unknown[] = [];
  let looks = 0;
  const watched = openDatabase({
    url: place.url,
    poolMax: 2,
    onStatement: (text) => {
      if (text.includes("state < 'active'")) looks += 1;
    },
  });
  await work(watched, async ({ n }) => void seen.push(n));
  await vi.waitFor(() => expect(looks).toBeGreaterThan(4));
  // Once of looking for jobs, and once of catching up with those of dead processes, at the start.
  const told = troubles.map(String);
  await sql`alter table pgboss.lost_job rename to job`;
  await send(databases.direct, { n: 1 });
  await vi.waitFor(() => expect(seen).toStrictEqual([1]));
  expect(told).toHaveLength(2);
  for (const text of told) expect(text).toContain('pgboss.job');
  await jobs?.close();
  jobs = undefined;
  await watched.close();
});

test('a database that answers nothing does not keep the process from ending', async () => {
  const proxy = await startTcpProxy(place.url);
  const silent = openDatabase({ url: proxy.url, poolMax: 2 });
  const queue = await createJobQueue(silent, { onTrouble: (error) => troubles.push(error), pollMs: 20 });
  queue.work(QUEUE, { concurrency: 1 }, async () => undefined);
  proxy.freeze();
  await queue.close();
  expect(String(troubles[0])).toContain('unavailable');
  proxy.thaw();
  await silent.close();
  await proxy.close();
}, 30_000);

test('nothing is notified in a transaction that sends jobs', async () => {
  const texts: string[] = [];
  const watched = openDatabase({ url: place.url, poolMax: 1, onStatement: (text) => texts.push(text) });
  await send(watched, { n: 1 });
  await watched.close();
  expect(texts.some((text) => /insert into pgboss\.job/i.test(text))).toBe(true);
  expect(texts.filter((text) => /notify/i.test(text))).toStrictEqual([]);
});
