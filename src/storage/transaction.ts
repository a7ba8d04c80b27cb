import type { Database, Drizzle } from './database.ts';
import { databaseErrorCode, guarded, startDeadline } from './database_errors.ts';

const DEADLOCK_DETECTED = '40P01';

/** A drizzle transaction. */
export type Transaction = Parameters<Parameters<Drizzle['transaction']>[0]>[0];

/**
 * ONE TRANSACTION: runs `work` and commits, or leaves everything as it was. A caller who was told `unavailable`
 * because the database was silent for too long is told the truth: what comes to its end later is rolled back. Only an
 * answer to the very commit can be lost on the way. What PostgreSQL ended as one side of a deadlock is done once more:
 * nothing of it was written, and the other side is through.
 */
export function inTransaction<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const deadline = startDeadline();
  const once = (): Promise<T> =>
    database.db.transaction(async (tx) => {
      deadline.assertInTime();
      const result = await work(tx);
      deadline.assertInTime();
      return result;
    });
  return guarded(() =>
    once().catch((error: unknown) => {
      if (databaseErrorCode(error) !== DEADLOCK_DETECTED) throw error;
      return once();
    }),
  );
}
