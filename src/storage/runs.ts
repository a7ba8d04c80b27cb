import { sql } from 'drizzle-orm';
import { SOURCE_TRUSTS, TIERS } from '../core/action.ts';
import type { DecisionRecord } from '../core/ports.ts';
import { runs } from './agent_schema.ts';
import type { Executor } from './database.ts';

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

/** Keeps the least favourable circumstances that calls of a run had; part of the caller's transaction. */
export async function recordRun(tx: Executor, record: DecisionRecord): Promise<void> {
  const { runId, trustRank, isSensitive, isUnattended, tierRank, hasParent } = toRunColumns(record);
  if (runId === null) return;
  await tx
    .insert(runs)
    .values({
      tenantId: record.tenantId,
      runId,
      agent: record.agent,
      sourceTrustRank: trustRank,
      containsSensitiveData: isSensitive,
      unattended: isUnattended,
      tierRank,
      hasParent,
    })
    .onConflictDoUpdate({
      target: [runs.tenantId, runs.runId, runs.agent],
      set: {
        sourceTrustRank: sql`greatest(${runs.sourceTrustRank}, excluded.source_trust_rank)`,
        containsSensitiveData: sql`${runs.containsSensitiveData} or excluded.contains_sensitive_data`,
        unattended: sql`${runs.unattended} or excluded.unattended`,
        tierRank: sql`least(${runs.tierRank}, excluded.tier_rank)`,
        hasParent: sql`${runs.hasParent} or excluded.has_parent`,
        seenAt: sql`clock_timestamp()`,
      },
    });
}
