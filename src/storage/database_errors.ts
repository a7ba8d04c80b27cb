import { unavailable } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';

/**
 * SQLSTATE classes and codes that say "not now": the same request may succeed later. Among them a server that is
 * read-only (a standby not yet promoted), and one that does not know our role or database (while it is restored).
 */
const TRANSIENT_SQLSTATE =
  /^(08...|25006|25P0[23]|28...|3D000|40001|40P01|53...|55P03|57014|57P0[1-5]|58...|XX...)$/;

/** Codes of the driver and of sockets that mean the server was not reached or was lost. */
const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/** How long a caller waits for the database, queueing included, even when the server no longer answers at all. */
const ANSWER_DEADLINE_MS = 12_000;

/** The driver's error code behind drizzle's wrapping, if any. */
export function databaseErrorCode(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && typeof current.code === 'string') return current.code;
  }
  return undefined;
}

function isUnavailable(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== undefined && (CONNECTION_CODES.has(code) || TRANSIENT_SQLSTATE.test(code));
}

/** What an error of PostgreSQL says without the values it happened on; those may be anybody's. */
interface LoggableError extends Error {
  code?: unknown;
  table?: unknown;
  constraint?: unknown;
}

/**
 * An error fit for the log: the innermost, since drizzle's wrapper quotes every parameter of the statement, and of
 * PostgreSQL's own only what names no row.
 */
function withoutValues(error: unknown): unknown {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  if (!(inner instanceof Error) || inner.name !== 'PostgresError') return inner;
  const { code, table_name: table, constraint_name: constraint } = inner as Error & Record<string, unknown>;
  const loggable: LoggableError = new Error(inner.message);
  if (inner.stack !== undefined) loggable.stack = inner.stack;
  return Object.assign(loggable, { name: inner.name, code, table, constraint });
}

/** The moment until which a caller waits, from now on. */
export interface Deadline {
  hasPassed(): boolean;
  /** @throws Fault `unavailable` once the moment has passed: what is not done by then is not to be done. */
  assertInTime(): void;
}

/** A deadline for work that begins now. */
export function startDeadline(): Deadline {
  const endsAt = performance.now() + ANSWER_DEADLINE_MS;
  const hasPassed = (): boolean => performance.now() >= endsAt;
  return {
    hasPassed,
    assertInTime: () => {
      if (hasPassed()) throw unavailable(new Error('the database did not answer in time'));
    },
  };
}

/**
 * Runs a piece of database work. FAIL CLOSED: a server that is down, lost, locked or silent ends in Fault
 * `unavailable`; every other error passes, without the values it happened on.
 */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error('no answer'))), ANSWER_DEADLINE_MS);
  });
  try {
    return await Promise.race([work(), silence]);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw isUnavailable(error) ? unavailable(withoutValues(error)) : withoutValues(error);
  } finally {
    clearTimeout(timer);
  }
}
