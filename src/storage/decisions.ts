import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { DecisionRecord } from '../core/ports.ts';
import { createBatcher } from './batcher.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { seenRuns, toRunColumns } from './runs.ts';
import { decisions, tenants } from './schema.ts';
import { createAssertKeyStands } from './standing.ts';

/** A decision's columns, as drizzle names them. */
export function toDecisionColumns(record: DecisionRecord): typeof decisions.$inferInsert {
  const { decision } = record;
  return {
    tenantId: record.tenantId,
    decisionId: record.decisionId,
    agent: record.agent,
    keyId: record.keyId,
    decision: decision.decision,
    reason: decision.reason,
    determiningPolicies: decision.determiningPolicies,
    policyRevision: decision.policyRevision,
    canonicalAction: record.canonicalAction,
    actionHash: record.actionHash,
    resolvedTool: decision.resolved.tool,
    resolvedAction: decision.resolved.action,
    context: record.context,
    denial: record.denial,
    grantId: record.grantId,
  };
}

/**
 * Writes one decision as part of a transaction; false, and nothing is written, unless its revision is the tenant's
 * active one, and the further conditions hold, as this very statement sees it.
 */
export async function insertDecision(
  tx: Executor,
  record: DecisionRecord,
  conditions: readonly SQL[] = [],
): Promise<boolean> {
  const { tenantId, createdAt: _, ...columns } = getTableColumns(decisions);
  const row: Record<string, unknown> = toDecisionColumns(record);
  const values = Object.entries(columns).map(
    ([name, column]) => sql`${sql.param(row[name], column)}::${sql.raw(column.getSQLType())}`,
  );
  const names = Object.values(columns).map((column) => sql.identifier(column.name));
  const written = await tx.execute(sql`
    insert into ${decisions} (${sql.identifier(tenantId.name)}, ${sql.join(names, sql`, `)})
    select ${tenants.tenantId}, ${sql.join(values, sql`, `)} from ${tenants}
    where ${tenants.tenantId} = ${record.tenantId} and ${tenants.activeRevision} = ${record.decision.policyRevision}
      ${sql.join(
        conditions.map((condition) => sql`and ${condition}`),
        sql` `,
      )}
    returning 1`);
  return written.length > 0;
}

/**
 * Makes decisions durable; those that arrive together in one statement and one commit. The key's standing and the
 * tenant's active revision are conditions of the statement itself, never of something read before it.
 */
export function createDecisionRecorder(
  database: Database,
): (record: DecisionRecord) => Promise<'recorded' | 'revision_moved'> {
  const { sql: statement } = database;
  const assertKeyStands = createAssertKeyStands(database);
  const send = async (records: DecisionRecord[]): Promise<boolean[]> => {
    const text = JSON.stringify(
      records.map((record) => ({ ...toDecisionColumns(record), ...toRunColumns(record) })),
    );
    // A call without a run pays nothing for those that have one.
    const seeRuns = records.some(({ context }) => context.run_id !== null)
      ? seenRuns(statement)
      : statement``;
    const rows = await guarded(
      async () => statement<{ decision_id: string }[]>`
        with request as (
          select * from jsonb_to_recordset(${text}::jsonb) as r(
            "tenantId" text, "decisionId" uuid, agent text, "keyId" uuid, decision text, reason text,
            "determiningPolicies" text[], "policyRevision" text, "canonicalAction" text, "actionHash" text,
            "resolvedTool" text, "resolvedAction" text, context jsonb, denial jsonb,
            "runId" text, "trustRank" int, "isSensitive" boolean, "isUnattended" boolean, "tierRank" int,
            "hasParent" boolean)
        ), standing as (
          select k.key_id from keys k
          where k.key_id in (select "keyId" from request) and k.revoked_at is null and k.frozen_at is null
            and k.disabled_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
        ) ${seeRuns}
        insert into decisions (tenant_id, decision_id, agent, key_id, decision, reason, determining_policies,
          policy_revision, canonical_action, action_hash, resolved_tool, resolved_action, context, denial)
        select r."tenantId", r."decisionId", r.agent, r."keyId", r.decision, r.reason, r."determiningPolicies",
          r."policyRevision", r."canonicalAction", r."actionHash", r."resolvedTool", r."resolvedAction",
          r.context, nullif(r.denial, 'null'::jsonb)
        from request r join standing s on s.key_id = r."keyId"
          join tenants t on t.tenant_id = r."tenantId" and t.active_revision = r."policyRevision"
        returning decision_id`,
    );
    const written = new Set(rows.map((row) => row.decision_id));
    return records.map((record) => written.has(record.decisionId));
  };
  const record = createBatcher({ send, batchMax: 128, inFlightMax: 3 });
  return async (decisionRecord) => {
    if (await record(decisionRecord)) return 'recorded';
    await assertKeyStands(decisionRecord.keyId);
    return 'revision_moved';
  };
}
