import type postgres from 'postgres';
import { expect } from 'vitest';
import { parseId } from '../../src/core/ids.ts';

export interface HeldRow {
  /** Commits the transaction that holds the row; once. */
  release(): Promise<void>;
  /** For further statements of that transaction. */
  session: postgres.ReservedSql;
}

/** The UUID in an approval's id as a test was answered it. */
export function uuidOf(approvalId: string): string {
  const uuid = parseId('approval', approvalId);
  if (uuid === undefined) throw new TypeError(`no approval's id: ${approvalId}`);
  return uuid;
}

/** Runs `lock` in a transaction of another session, which stays open until it is released. */
export async function holdRow(
  sql: postgres.Sql,
  lock: (session: postgres.ReservedSql) => Promise<unknown>,
): Promise<HeldRow> {
  const session = await sql.reserve();
  await session`begin`;
  await lock(session);
  let released = false;
  return {
    session,
    release: async () => {
      if (released) return;
      released = true;
      await session`commit`;
      session.release();
    },
  };
}

/** Holds approvals' rows as any writer of them does. */
export function holdApprovals(sql: postgres.Sql, ...approvalIds: string[]): Promise<HeldRow> {
  return holdRow(
    sql,
    (session) => session`
      select from approvals where approval_id = any(${approvalIds.map(uuidOf)}::uuid[])
      order by approval_id for update`,
  );
}

/** Resolves once as many statements of services on this database wait for a lock. */
export async function untilBlocked(sql: postgres.Sql, count: number): Promise<void> {
  await expect
    .poll(() => countBlocked(sql), {
      interval: 10,
      timeout: 5000,
      message: 'statements that wait for a lock',
    })
    .toBe(count);
}

async function countBlocked(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'aegis' and wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}

/** Resolves once the database's clock has passed the approval's expiry. */
export async function untilExpired(sql: postgres.Sql, approvalId: string): Promise<void> {
  const isExpired = async (): Promise<boolean | undefined> => {
    const [row] = await sql<{ expired: boolean }[]>`
      select expires_at <= clock_timestamp() as expired from approvals where approval_id = ${uuidOf(approvalId)}`;
    return row?.expired;
  };
  await expect.poll(isExpired, { interval: 10, timeout: 10_000 }).toBe(true);
}
