import type { Database } from '../storage/database.ts';
import { deleteExpired } from '../storage/delete_expired.ts';
import type { ServiceLog } from './service_log.ts';

const INTERVAL_MS = 10 * 60_000;

/** Deletes what has run out, now and then; returns what stops it. Nothing relies on it having run. */
export function startHousekeeping(database: Database, log: ServiceLog): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = deleteExpired(database).catch((error: unknown) =>
      log.warn({ err: error }, 'expired rows could not be deleted now'),
    );
  }, INTERVAL_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
