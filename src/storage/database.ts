import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { parseConnectionUrl } from './connection_url.ts';

export interface DatabaseOptions {
  url: string;
  /** Connections in the pool. */
  poolMax: number;
  isPooled?: boolean;
  /** Sees every statement's text; the tests of the TENANT WALL listen here. */
  onStatement?: ((text: string) => void) | undefined;
}

export type Drizzle = PostgresJsDatabase;
/** A drizzle transaction, or the database itself. */
export type Executor = Pick<
  Drizzle,
  'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'execute'
>;

export interface Database {
  /** Statements built by drizzle. */
  db: Drizzle;
  /** Hand-written statements, prepared once a connection. */
  sql: postgres.Sql;
  close(): Promise<void>;
}

/** How long a statement waits for a row's lock before the caller is told to try again. */
export const LOCK_TIMEOUT_MS = 2000;
export const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * A pipeline that is never full: the driver gives a connection to the transaction whose `begin` it sends only while
 * the pipeline has room, and else lets the transaction fail. The driver has the option, its types do not.
 */
const ENDLESS_PIPELINE = { max_pipeline: 1_000_000 };

export type ConnectOptions = Pick<postgres.Options<Record<string, never>>, 'max' | 'debug'> & {
  lockTimeoutMs?: number;
  statementTimeoutMs?: number;
  /**
   * True when the URL is a connection pooler's: it takes no settings at connect (they are the role's then, see
   * `migrateDatabase`), and a prepared statement may be another connection's.
   */
  isPooled?: boolean;
};

/** The driver for one URL, with what every connection of ours shares; nothing is connected yet. */
export function connect(url: string, applicationName: string, options: ConnectOptions = {}): postgres.Sql {
  const { lockTimeoutMs, statementTimeoutMs, isPooled = false, ...rest } = options;
  const target = parseConnectionUrl(url);
  return postgres(target.url, {
    ...(target.host !== undefined && { host: target.host }),
    ...rest,
    connect_timeout: 3,
    // A database that returns is noticed at once instead of after an exponential pause.
    backoff: () => 0.2,
    onnotice: () => undefined,
    ...ENDLESS_PIPELINE,
    prepare: !isPooled,
    connection: {
      application_name: applicationName,
      TimeZone: 'UTC',
      ...(!isPooled && {
        lock_timeout: lockTimeoutMs ?? LOCK_TIMEOUT_MS,
        statement_timeout: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      }),
    },
  });
}

/** Opens a pool. Nothing is connected until the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const { onStatement } = options;
  const sql = connect(options.url, 'aegis', {
    max: options.poolMax,
    isPooled: options.isPooled ?? false,
    ...(onStatement && { debug: (_connection: number, text: string) => onStatement(text) }),
  });
  return { db: drizzle(sql), sql, close: () => sql.end({ timeout: 5 }) };
}
