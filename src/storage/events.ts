import type postgres from 'postgres';
import type { ApprovalStatus } from '../core/approval.ts';
import type { ApprovalEvent, ApprovalEventType, EventPosition, EventStore } from '../core/event_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';

interface EventRow {
  is_unsettled: boolean;
  /** Null, with all that follows, in the one row of an answer without events. */
  xid: string | null;
  seq: string;
  type: ApprovalEventType;
  approval_id: string;
  agent: string;
  version: number;
  status: ApprovalStatus;
  action_hash: string;
  at: Date;
}

/**
 * The oldest transaction that may still add an event, in the statement's snapshot: one that goes on, or the next to
 * begin. Those of other databases of the cluster are in the snapshot too, and add none. `backend_xid` and `datid` are
 * shown to every role.
 */
function oldestUnsettled(sql: postgres.Sql) {
  return sql`coalesce((
    select running.xid from pg_snapshot_xip(pg_current_snapshot()) as running(xid)
    where not exists (select from pg_stat_activity s where s.backend_xid = running.xid::xid
      and s.datid <> (select d.oid from pg_database d where d.datname = current_database()))
    order by running.xid limit 1), pg_snapshot_xmax(pg_current_snapshot()))`;
}

/** One snapshot says which events there are and how far they may be told. */
function selectEvents(
  sql: postgres.Sql,
  tenantId: string,
  after: EventPosition,
  agent: string | null,
  limit: number,
): Promise<EventRow[]> {
  return sql<EventRow[]>`
    with unsettled as materialized (select ${oldestUnsettled(sql)} as xid)
    select told.*, exists (
      select from approval_events u where u.tenant_id = ${tenantId} and u.xid >= r.xid
        and (u.xid, u.seq) > (${after.xid}::xid8, ${after.seq}::bigint)
        and (${agent}::text is null or u.agent = ${agent}::text)
    ) as is_unsettled
    from unsettled r left join lateral (
      select e.xid, e.seq, e.type, e.approval_id, e.agent, e.version, e.status, e.action_hash, e.at
      from approval_events e where e.tenant_id = ${tenantId} and e.xid < r.xid
        and (e.xid, e.seq) > (${after.xid}::xid8, ${after.seq}::bigint)
        and (${agent}::text is null or e.agent = ${agent}::text)
      order by e.xid, e.seq limit ${limit}
    ) told on true
    order by told.xid, told.seq`;
}

function toEvent(tenantId: string, row: EventRow & { xid: string }): ApprovalEvent {
  return {
    tenantId,
    position: { xid: row.xid, seq: row.seq },
    type: row.type,
    approvalId: row.approval_id,
    agent: row.agent,
    version: row.version,
    status: row.status,
    actionHash: row.action_hash,
    at: new Date(row.at),
  };
}

function hasEvent(row: EventRow): row is EventRow & { xid: string } {
  return row.xid !== null;
}

/** What happened to approvals, as the database's triggers wrote it; see `EventStore`. */
export function createEventStore({ sql }: Database): EventStore {
  return {
    listAfter: async (tenantId, after, agent, limit) => {
      const rows = await guarded(() => selectEvents(sql, tenantId, after, agent, limit));
      return {
        items: rows.filter(hasEvent).map((row) => toEvent(tenantId, row)),
        isUnsettled: rows[0]?.is_unsettled ?? false,
      };
    },
    readHead: async () => {
      const [row] = await guarded(() => sql<{ xid: string }[]>`select ${oldestUnsettled(sql)}::text as xid`);
      if (row === undefined) throw new Error('a selection without a row');
      // Before the first event of whatever transaction may still add some; the numbers of events begin at 1.
      return { xid: row.xid, seq: '0' };
    },
  };
}
