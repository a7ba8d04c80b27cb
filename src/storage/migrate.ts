import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate } from 'drizzle-orm/postgres-js/migrator';
import type postgres from 'postgres';
import { OperatorError } from '../core/operator_error.ts';
import { connect, LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './database.ts';
import { migrateJobs } from './job_boss.ts';

/** Any constant: all Aegis processes that migrate one database contend for this advisory lock. */
const MIGRATION_LOCK = 7_226_331;
const MIGRATION_TIMEOUT_MS = 120_000;

/** The oldest PostgreSQL served, as `server_version_num`. */
const SERVER_VERSION_MIN = 140_000;

/** Behind a pooler our connections cannot set their time limits themselves: the role has them in this database. */
async function keepTimeoutsWithRole(sql: postgres.Sql): Promise<void> {
  await sql`do $$ begin
    execute format('alter role %I in database %I set lock_timeout = %s', current_user, current_database(), ${sql.unsafe(String(LOCK_TIMEOUT_MS))});
    execute format('alter role %I in database %I set statement_timeout = %s', current_user, current_database(), ${sql.unsafe(String(STATEMENT_TIMEOUT_MS))});
  end $$`;
}

/**
 * Brings the schema up to date; processes that start together migrate one after the other. `isPooled` when the
 * service itself will connect through a pooler; `url` is a direct connection all the same.
 * @throws OperatorError when the server is too old.
 */
export async function migrateDatabase(
  url: string,
  migrationsFolder: string,
  isPooled = false,
): Promise<void> {
  const sql = connect(url, 'aegis migrations', {
    max: 1,
    lockTimeoutMs: MIGRATION_TIMEOUT_MS,
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
  });
  try {
    const [server] = await sql<
      { number: number; text: string }[]
    >`select current_setting('server_version_num')::int as number, current_setting('server_version') as text`;
    if (server !== undefined && server.number < SERVER_VERSION_MIN) {
      throw new OperatorError(`the database is PostgreSQL ${server.text}. Aegis needs 14 or newer`);
    }
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    if (isPooled) await keepTimeoutsWithRole(sql);
    const db = drizzle(sql);
    await migrate(db, {
      migrationsFolder,
      migrationsSchema: 'public',
      migrationsTable: 'schema_migrations',
    });
    await migrateJobs(db);
  } finally {
    // Ends the session, and with it the lock, however the migration ended.
    await sql.end({ timeout: 5 });
  }
}
