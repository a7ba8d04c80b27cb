import type postgres from 'postgres';
import { subjectsOf } from '../core/asker_ports.ts';
import type { ExpiryStore } from '../core/event_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import type { SignalPublisher } from './signals.ts';

/** Approvals told of in one statement. */
const TOLD_MAX = 500;
/** The part of its life after which a pending approval is told to be expiring. */
const EXPIRING_PART = 0.8;
/** The last fifth of the longest life, a day; what expires later need not be looked at. */
const LAST_PART_SECONDS = 17_280;

interface ToldRow {
  tenant_id: string;
  approval_id: string;
  status: 'pending' | 'approved';
  has_expired: boolean;
  was_shown: boolean;
}

/**
 * Says of approvals that it was told of them; the table's trigger writes the events. One whose asker is gone reads as
 * cancelled and is not about to expire.
 */
function tellDue(sql: postgres.Sql): Promise<ToldRow[]> {
  return sql<ToldRow[]>`
    with due as materialized (
      select a.tenant_id, a.approval_id from tenants t join approvals a on a.tenant_id = t.tenant_id
      where a.status in ('pending', 'approved') and a.expired_told_at is null
        and a.expires_at <= statement_timestamp() + make_interval(secs => ${LAST_PART_SECONDS}::int)
        and (a.expires_at <= clock_timestamp()
          or (a.status = 'pending' and a.expiring_told_at is null
            and a.expires_at - ${1 - EXPIRING_PART}::float8 * (a.expires_at - a.created_at) <= clock_timestamp()
            and (a.asker_lease_until is null or a.asker_lease_until > clock_timestamp())))
      order by a.tenant_id, a.approval_id limit ${TOLD_MAX} for update of a skip locked
    ), told as (
      update approvals a
      set expiring_told_at = coalesce(a.expiring_told_at, clock_timestamp()),
          expired_told_at = case when a.expires_at <= clock_timestamp() then clock_timestamp() end
      from due d
      where a.tenant_id = d.tenant_id and a.approval_id = d.approval_id
        and a.status in ('pending', 'approved') and a.expired_told_at is null
      returning a.tenant_id, a.approval_id, a.status, a.expired_told_at is not null as has_expired
    )
    select told.*, exists (
      select from approval_views v where v.tenant_id = told.tenant_id and v.approval_id = told.approval_id
    ) as was_shown
    from told`;
}

/** Tells, of every tenant, what is about to expire and what has; see `ExpiryStore`. */
export function createExpiryStore({ sql }: Database, publisher: SignalPublisher): ExpiryStore {
  return {
    tellExpiries: async () => {
      const rows = await guarded(() => tellDue(sql));
      publisher.publish(rows.flatMap((row) => subjectsOf(row.tenant_id, [row.approval_id])));
      const identify = (row: ToldRow) => ({ tenantId: row.tenant_id, approvalId: row.approval_id });
      return {
        expiring: rows.filter((row) => !row.has_expired).map(identify),
        expired: rows
          .filter((row) => row.has_expired)
          .map((row) => ({ ...identify(row), status: row.status, wasShown: row.was_shown })),
        hasMore: rows.length === TOLD_MAX,
      };
    },
  };
}
