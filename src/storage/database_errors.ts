import { unavailable } from '../core/common_faults.ts';

/** SQLSTATE classes and codes that say "not now": the same request may succeed later. */
const TRANSIENT_SQLSTATE = /^(08...|53...|57P0[1-5]|57014|55P03|40001|40P01|25P0[23]|XX...|58...)$/;

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

/** A statement is given up for the caller after this long, even when the server no longer answers at all. */
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

/**
 * Runs a piece of database work. FAIL CLOSED: a server that is down, lost, locked or silent ends in Fault
 * `unavailable`; every other error passes as it is.
 */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unavailable(new Error('no answer'))), ANSWER_DEADLINE_MS);
  });
  try {
    return await Promise.race([work(), deadline]);
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}
