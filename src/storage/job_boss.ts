import { type SQL, sql } from 'drizzle-orm';
import PgBoss from 'pg-boss';
import { JOB_QUEUES, type JobQueueName, type NewJob } from '../core/job_ports.ts';
import type { Drizzle, Executor } from './database.ts';
import { guarded } from './database_errors.ts';

// pg-boss on connections of ours: its tables are in a schema of their own, and its statements go where ours go.

const SCHEMA = 'pgboss';
const MAINTENANCE_SECONDS = 30;
const HOUR_SECONDS = 3600;

/**
 * How long after its process died a job is given to another, and how often it is tried again. Handlers keep their own
 * schedules by sending the next job themselves: what counts here are dead processes and databases, so there is no end
 * of it. The pauses between double from one second on.
 */
const QUEUE_OPTIONS = {
  expireInSeconds: 60,
  retryLimit: 1_000_000,
  retryDelay: 1,
  retryBackoff: true,
} as const;

const PARAMETER = /\$(\d+)/;

/** As `pg` sends values, for which pg-boss was written: objects as JSON. Arrays are arrays of the database. */
function toParameter(value: unknown): SQL {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const sent = isObject ? (value instanceof Date ? value.toISOString() : JSON.stringify(value)) : value;
  return sql`${sql.param(sent ?? null)}`;
}

/** A statement with `$1`, `$2` and so on, and its values. None that pg-boss sends has such a text in a literal. */
function toStatement(text: string, values: readonly unknown[]): SQL {
  const parts = text.split(PARAMETER);
  const chunks = parts.map((part, index) =>
    index % 2 === 0 ? sql.raw(part) : toParameter(values[Number(part) - 1]),
  );
  return sql.join(chunks);
}

/** What pg-boss wraps into a transaction itself, statement after statement in one text. */
const WHOLE_TRANSACTION = /^\s*BEGIN;(.*)COMMIT;\s*$/s;

async function run(executor: Pick<Executor, 'execute'>, statement: SQL): Promise<{ rows: object[] }> {
  return { rows: [...(await executor.execute(statement))] };
}

function toStatementOf(text: string, values: readonly unknown[]): SQL {
  // Functions have dollars of their own, and are made without values.
  return values.length === 0 ? sql.raw(text) : toStatement(text, values);
}

/** Lets pg-boss send its statements in a transaction of ours. */
function inDb(tx: Pick<Executor, 'execute'>): PgBoss.Db {
  return { executeSql: (text, values = []) => run(tx, toStatementOf(text, values)) };
}

/** Lets pg-boss send its statements by our database. */
function toDb(db: Drizzle, { isGuarded }: { isGuarded: boolean }): PgBoss.Db {
  return {
    executeSql: (text, values = []) => {
      const body = WHOLE_TRANSACTION.exec(text)?.[1];
      const send = (): Promise<{ rows: object[] }> =>
        body === undefined
          ? run(db, toStatementOf(text, values))
          : db.transaction((tx) => run(tx, sql.raw(body)));
      return isGuarded ? guarded(send) : send();
    },
  };
}

/** A pg-boss on a database; `start` it for its upkeep, which one process at a time does. */
export function createBoss(db: Drizzle, options: { migrate: boolean }): PgBoss {
  return new PgBoss({
    // Work does not wait for a silent database for ever. A migration may take its time.
    db: toDb(db, { isGuarded: !options.migrate }),
    schema: SCHEMA,
    schedule: false,
    supervise: !options.migrate,
    migrate: options.migrate,
    maintenanceIntervalSeconds: MAINTENANCE_SECONDS,
    archiveCompletedAfterSeconds: HOUR_SECONDS,
    deleteAfterHours: 24,
  });
}

/** Makes or updates pg-boss's tables and our queues. For one process at a time, on a direct connection. */
export async function migrateJobs(db: Drizzle): Promise<void> {
  const boss = createBoss(db, { migrate: true });
  await boss.start();
  for (const queue of JOB_QUEUES) await boss.createQueue(queue, { name: queue, ...QUEUE_OPTIONS });
  await boss.stop({ graceful: false });
}

/** Takes jobs of a queue. pg-boss's `fetch` keeps the database's errors to itself; here they are thrown. */
export async function fetchJobs(
  boss: PgBoss,
  db: Drizzle,
  queue: JobQueueName,
  batchSize: number,
): Promise<PgBoss.Job<unknown>[]> {
  const { executeSql } = toDb(db, { isGuarded: true });
  const failures: unknown[] = [];
  const noting: PgBoss.Db = {
    executeSql: (text, values) =>
      executeSql(text, values).catch((error: unknown) => {
        failures.push(error);
        throw error;
      }),
  };
  const jobs = await boss.fetch<unknown>(queue, { batchSize, db: noting });
  if (failures.length > 0) throw failures[0];
  return jobs;
}

/** Never started: it only writes the statement that inserts. */
const sender = new PgBoss({
  db: { executeSql: () => Promise.reject(new Error('jobs are sent in a transaction')) },
  schema: SCHEMA,
});

/** Sends jobs in a transaction: they are there when it commits, and never without it (ONE TRANSACTION). */
export async function sendJobs(tx: Pick<Executor, 'execute'>, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const rows = jobs.map(({ queue, data, delaySeconds, priority }) => ({
    name: queue satisfies JobQueueName,
    data,
    startAfter: String(delaySeconds),
    priority,
  }));
  await sender.insert(rows, { db: inDb(tx) });
}
