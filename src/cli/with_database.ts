import { OperatorError } from '../core/operator_error.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { isPrepared } from '../storage/embedded/embedded_postgres.ts';
import { readReadiness } from '../storage/readiness.ts';
import { findActiveRevision } from '../storage/tenants.ts';
import type { Config } from './config.ts';
import { oneLine } from './config_values.ts';
import { findRunningDatabase, provideDatabase } from './database_location.ts';
import { DEFAULT_TENANT } from './first_keys.ts';

const NEVER_STARTED =
  'Start it once with `aegis serve`, or set AEGIS_DATA_DIR or DATABASE_URL as it has them';

/** Opens a database for `work`; undefined when it does not answer or was never migrated. */
async function workOn<T>(
  url: string,
  work: (database: Database) => Promise<T>,
): Promise<{ done: T } | undefined> {
  const database = openDatabase({ url, poolMax: 1 });
  try {
    const readiness = await readReadiness(database, DEFAULT_TENANT);
    return readiness.database ? { done: await work(database) } : undefined;
  } finally {
    await database.close();
  }
}

/**
 * Runs `work` on the database that the configuration names, or else on the embedded one: of the service that runs now,
 * or started for it. @throws OperatorError when there is none to work on, EmbeddedPostgresError.
 */
export async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl } = config;
  const url = databaseUrl ?? findRunningDatabase(dataDir);
  const found = url === undefined ? undefined : await workOn(url, work);
  if (found !== undefined) return found.done;
  if (databaseUrl !== undefined) {
    throw new OperatorError(
      'the database of DATABASE_URL cannot be reached, or was never migrated. Start it, and the service once',
    );
  }
  if (!(await isPrepared(dataDir))) {
    throw new OperatorError(`no service has kept its data in \`${oneLine(dataDir)}\`. ${NEVER_STARTED}`);
  }
  const opened = await provideDatabase(config, () => undefined);
  try {
    const made = await workOn(opened.url, work);
    if (made !== undefined) return made.done;
    throw new OperatorError(`the database in \`${oneLine(dataDir)}\` was never migrated. ${NEVER_STARTED}`);
  } finally {
    await opened.close();
  }
}

/** @throws OperatorError when the database has no such tenant. */
export async function assertTenant(database: Database, tenantId: string): Promise<void> {
  if ((await findActiveRevision(database, tenantId)) !== undefined) return;
  throw new OperatorError(
    `there is no tenant \`${oneLine(tenantId)}\`. Make it with \`POST /v1/tenants\`, or leave \`--tenant\` out`,
  );
}
