import type { Database, Drizzle } from './database.ts';
import { guarded, startDeadline } from './database_errors.ts';

/** A drizzle transaction. */
export type Transaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0];

/**
 * ONE TRANSACTION: runs `work` and commits, or leaves everything as it was. A caller who was told `unavailable`
 * because the database was silent for too long is told the truth: what comes to its end later is rolled back. Only an
 * answer to the very commit can be lost on the way.
 */
export function inTransaction<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const deadline = startDeadline();
  return guarded(() =>
    database.db.transaction(async (tx) => {
      deadline.assertInTime();
      const result = await work(tx);
      deadline.assertInTime();
      return result;
    }),
  );
}
