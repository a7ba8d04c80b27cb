import type postgres from 'postgres';
import { type Asker, type AskerStore, subjectsOf } from '../core/asker_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import type { SignalPublisher } from './signals.ts';

/** How long an ask outlives the last sign of life of the connection that waits for its answer. */
export const ASKER_LEASE_SECONDS = 15;

/** Why an ask was cancelled, in its agent's name. */
const ASKER_GONE = 'whoever asked no longer waits for the answer';

/** Asks cancelled in one statement; what is left over is found the next time. */
const ABANDONED_MAX = 500;

interface WithdrawnRow {
  tenant_id: string;
  approval_id: string;
}

/** A lease that has lapsed stays so: what read as cancelled does not become pending again. */
async function renew(sql: postgres.Sql, askers: readonly Asker[]): Promise<void> {
  if (askers.length === 0) return;
  const tenantIds = askers.map(({ tenantId }) => tenantId);
  const connectionIds = askers.map(({ connectionId }) => connectionId);
  await sql`
    with asker as (
      select * from unnest(${tenantIds}::text[], ${connectionIds}::uuid[]) as r(tenant, connection)
    ), held as materialized (
      select a.tenant_id, a.approval_id from asker r join approvals a
        on a.tenant_id = r.tenant and a.asker_connection = r.connection
      where a.status = 'pending' and a.expires_at > clock_timestamp() and a.asker_lease_until > clock_timestamp()
      order by a.tenant_id, a.approval_id for update of a skip locked
    )
    update approvals a
    set asker_lease_until = clock_timestamp() + make_interval(secs => ${ASKER_LEASE_SECONDS}::int)
    from held where a.tenant_id = held.tenant_id and a.approval_id = held.approval_id`;
}

function withdraw(
  sql: postgres.Sql,
  { tenantId, connectionId }: Asker,
  approvalId: string | null,
): Promise<WithdrawnRow[]> {
  return sql<WithdrawnRow[]>`
    with held as materialized (
      select a.approval_id from approvals a
      where a.tenant_id = ${tenantId} and a.asker_connection = ${connectionId} and a.status = 'pending'
        and (${approvalId}::uuid is null or a.approval_id = ${approvalId}::uuid)
      order by a.approval_id for update
    )
    update approvals a
    set status = 'cancelled', decided_by = a.agent, decided_at = clock_timestamp(), decision_reason = ${ASKER_GONE}
    from held
    where a.tenant_id = ${tenantId} and a.approval_id = held.approval_id and a.status = 'pending'
      and a.expires_at > clock_timestamp()
    returning a.tenant_id, a.approval_id`;
}

function withdrawAbandoned(sql: postgres.Sql): Promise<WithdrawnRow[]> {
  return sql<WithdrawnRow[]>`
    with abandoned as materialized (
      select a.tenant_id, a.approval_id from tenants t join approvals a on a.tenant_id = t.tenant_id
      where a.status = 'pending' and a.asker_connection is not null
        and a.asker_lease_until <= clock_timestamp() and a.expires_at > clock_timestamp()
      order by a.tenant_id, a.approval_id limit ${ABANDONED_MAX} for update of a skip locked
    )
    update approvals a
    set status = 'cancelled', decided_by = a.agent, decided_at = clock_timestamp(), decision_reason = ${ASKER_GONE}
    from abandoned g
    where a.tenant_id = g.tenant_id and a.approval_id = g.approval_id and a.status = 'pending'
      and a.asker_lease_until <= clock_timestamp() and a.expires_at > clock_timestamp()
    returning a.tenant_id, a.approval_id`;
}

/**
 * Asks that end with their connection; see `AskerStore`. A connection that closes says so; one whose process died
 * does not, and its asks end with their lease, by whichever process looks first.
 */
export function createAskerLeases(
  { sql }: Database,
  publisher: SignalPublisher,
): Omit<AskerStore, 'listPendingCommands'> {
  const publish = (withdrawn: readonly WithdrawnRow[]): void => {
    publisher.publish(withdrawn.flatMap((row) => subjectsOf(row.tenant_id, [row.approval_id])));
  };
  return {
    renew: (askers) => guarded(() => renew(sql, askers)),
    withdraw: async (asker, approvalId) => publish(await guarded(() => withdraw(sql, asker, approvalId))),
    withdrawAbandoned: async () => publish(await guarded(() => withdrawAbandoned(sql))),
  };
}
