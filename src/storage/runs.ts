import { sql } from 'drizzle-orm';
import { SOURCE_TRUSTS, TIERS } from '../core/action.ts';
import type { DecisionRecord } from '../core/ports.ts';
import type { Database, Executor } from './database.ts';

/** What a call adds to its run, in the columns' own ranks; without a run id nothing. */
export function toRunColumns({ context }: DecisionRecord) {
  return {
    runId: context.run_id,
    trustRank: SOURCE_TRUSTS.indexOf(context.source_trust),
    isSensitive: context.contains_sensitive_data,
    isUnattended: context.unattended,
    tierRank: TIERS.indexOf(context.tier),
    hasParent: context.parent_run_id !== null,
  };
}

/** How the row of a run takes another of its calls up: the least favourable of both. */
const TAKE_UP = `on conflict (tenant_id, run_id, agent) do update set
  source_trust_rank = greatest(known.source_trust_rank, excluded.source_trust_rank),
  contains_sensitive_data = known.contains_sensitive_data or excluded.contains_sensitive_data,
  unattended = known.unattended or excluded.unattended,
  tier_rank = least(known.tier_rank, excluded.tier_rank),
  has_parent = known.has_parent or excluded.has_parent,
  seen_at = clock_timestamp()`;

const INSERT = `insert into runs as known (tenant_id, run_id, agent, source_trust_rank, contains_sensitive_data,
  unattended, tier_rank, has_parent)`;

/** Keeps the least favourable circumstances that calls of a run had; part of the caller's transaction. */
export async function recordRun(tx: Executor, record: DecisionRecord): Promise<void> {
  const { runId, trustRank, isSensitive, isUnattended, tierRank, hasParent } = toRunColumns(record);
  if (runId === null) return;
  await tx.execute(sql`${sql.raw(INSERT)}
    values (${record.tenantId}, ${runId}, ${record.agent}, ${trustRank}, ${isSensitive}, ${isUnattended},
      ${tierRank}, ${hasParent})
    ${sql.raw(TAKE_UP)}`);
}

/**
 * The same for each run that the requests of a batch name, as a part of its statement. A run that is known to be no
 * better already is not touched: its row is not locked, and calls of one run do not wait for each other.
 */
export function seenRuns(statement: Database['sql']) {
  return statement`
    , seen as (
      ${statement.unsafe(INSERT)}
      select r."tenantId", r."runId", r.agent, max(r."trustRank"), bool_or(r."isSensitive"),
        bool_or(r."isUnattended"), min(r."tierRank"), bool_or(r."hasParent")
      from request r join standing s on s.key_id = r."keyId"
        join tenants t on t.tenant_id = r."tenantId" and t.active_revision = r."policyRevision"
      where r."runId" is not null and not exists (
        select from runs k where k.tenant_id = r."tenantId" and k.run_id = r."runId" and k.agent = r.agent
          and k.source_trust_rank >= r."trustRank" and k.contains_sensitive_data >= r."isSensitive"
          and k.unattended >= r."isUnattended" and k.tier_rank <= r."tierRank"
          and k.has_parent >= r."hasParent")
      group by 1, 2, 3 order by 1, 2, 3
      ${statement.unsafe(TAKE_UP)}
    )`;
}
