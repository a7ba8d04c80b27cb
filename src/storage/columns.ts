import { type AnyColumn, type SQL, sql } from 'drizzle-orm';
import { customType, timestamp } from 'drizzle-orm/pg-core';

/** A moment in milliseconds, as every time of the service is. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });

/** A transaction's number, which no two of a cluster share; decimal. */
export const xid8 = customType<{ data: string; driverData: string }>({ dataType: () => 'xid8' });

/** When the row was written. */
export const createdAt = () => instant('created_at').notNull().default(sql`clock_timestamp()`);

/** A row's revisions, oldest first, with this one as the newest. */
export function withRevision(revisions: AnyColumn, revision: string): SQL {
  return sql`array_append(array_remove(${revisions}, ${revision}), ${revision})`;
}
