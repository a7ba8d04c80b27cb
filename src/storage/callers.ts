import type { Caller } from '../core/caller.ts';
import { createSharedRead } from './batcher.ts';
import { type CallerRow, callerTables, keyStandsNow, selectCaller, toCaller } from './caller_row.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';

/**
 * Finds who is behind a token, in the database at each request: a revoked key is refused everywhere from its
 * commit, without a cache to invalidate. Requests that arrive together share one statement.
 */
export function createCallerLookup(database: Database): (tokenHash: string) => Promise<Caller | undefined> {
  const { sql } = database;
  const [columns, tables, stands] = [selectCaller(sql), callerTables(sql), keyStandsNow(sql)];
  return createSharedRead(async (tokenHashes) => {
    const rows = await guarded(
      async () => sql<(CallerRow & { token_hash: string })[]>`
        select k.token_hash, ${columns} from ${tables}
        where k.token_hash = any(${tokenHashes}::text[]) and ${stands}`,
    );
    return new Map(rows.map((row) => [row.token_hash, toCaller(row)]));
  });
}
