import { sql } from 'drizzle-orm';
import { timestamp } from 'drizzle-orm/pg-core';

/** A moment in milliseconds, as every time of the service is. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });

/** When the row was written. */
export const createdAt = () => instant('created_at').notNull().default(sql`clock_timestamp()`);
