import { and, asc, desc, eq, gt, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm';
import type { Grant, GrantQuery, GrantStore, Writer } from '../core/agent_ports.ts';
import type { Approval } from '../core/approval.ts';
import { editorsOf } from '../core/approval.ts';
import type { ApprovalChange } from '../core/approval_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { computeGrantFingerprint } from '../core/grant.ts';
import type { DecisionRecord } from '../core/ports.ts';
import { grants } from './agent_schema.ts';
import { countedVotes, toVote } from './approval_rows.ts';
import { withRevision } from './columns.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { approvals } from './schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

const clock = sql`clock_timestamp()`;

/** True of a grant that is neither revoked nor out of time. */
const isInForce = and(isNull(grants.revokedAt), gt(grants.expiresAt, clock));

/** The same of one that is not used up either. */
const stands = and(isInForce, sql`(${grants.maxUses} is null or ${grants.uses} < ${grants.maxUses})`);

function selectGrants(executor: Executor) {
  return executor
    .select({
      row: grants,
      ageSeconds: sql<number>`extract(epoch from clock_timestamp() - grants.created_at)::float8`,
      votes: countedVotes,
      resolved: { tool: approvals.resolvedTool, action: approvals.resolvedAction },
    })
    .from(grants)
    .innerJoin(
      approvals,
      and(eq(approvals.tenantId, grants.tenantId), eq(approvals.approvalId, grants.approvalId)),
    )
    .$dynamic();
}

type Reading = Awaited<ReturnType<typeof selectGrants>>[number];

function toGrant({ row, ageSeconds, votes, resolved }: Reading): Grant {
  const {
    tenantId: _,
    fingerprint: __,
    policyRevisions: ___,
    revokedAt: ____,
    revokedBy: _____,
    ...grant
  } = row;
  return { ...grant, ageSeconds, resolved, votes: votes.map(toVote) };
}

/** Fingerprints that a grant for this call could have. */
function fingerprintsOf(query: GrantQuery): string[] {
  return [
    ...(query.runId === null ? [] : [computeGrantFingerprint(query, 'run')]),
    ...(query.sessionId === null ? [] : [computeGrantFingerprint(query, 'session')]),
    computeGrantFingerprint(query, 'window'),
  ];
}

function isGrant(tenantId: string, grantId: string): SQL {
  return and(eq(grants.tenantId, tenantId), eq(grants.grantId, grantId)) as SQL;
}

/** Writes the grant that an approval's votes make, in the transaction that completes it. */
export async function insertGrant(
  tx: Executor,
  actor: { tenantId: string; principal: string },
  approval: Approval,
  change: Extract<ApprovalChange, { kind: 'grant' }>,
): Promise<void> {
  const { context } = approval;
  const { scope, seconds, maxUses } = change.terms;
  const now = sql`statement_timestamp()` as unknown as Date;
  // An approval that drifted was written anew before this, so its row has the revision and the facts that hold.
  const ofRow = (column: 'policy_revision' | 'tool_facts_hash') =>
    sql<string>`(select a.${sql.identifier(column)} from approvals a
      where a.tenant_id = ${actor.tenantId} and a.approval_id = ${approval.approvalId})`;
  const revision = ofRow('policy_revision');
  await tx.insert(grants).values({
    tenantId: actor.tenantId,
    grantId: change.grantId,
    agent: approval.agent,
    owner: approval.owner,
    editors: editorsOf(approval),
    fingerprint: change.fingerprint,
    sessionId: context.session_id,
    runId: context.run_id,
    workspace: context.workspace,
    environment: context.environment,
    actionHash: approval.actionHash,
    scope,
    maxUses,
    policyRevision: revision as unknown as string,
    policyRevisions: sql`array[${revision}]` as unknown as string[],
    toolFactsHash: ofRow('tool_facts_hash') as unknown as string,
    sourceTrust: context.source_trust,
    containsSensitiveData: context.contains_sensitive_data,
    grantedBy: actor.principal,
    approvalId: approval.approvalId,
    createdAt: now,
    expiresAt: sql`statement_timestamp() + make_interval(secs => ${seconds}::int)` as unknown as Date,
  });
}

/** Ends the grants that `which` names and that stand; part of the caller's transaction. */
export async function revokeGrants(
  tx: Executor,
  tenantId: string,
  which: SQL | undefined,
  revokedBy: string | null,
): Promise<void> {
  await tx
    .update(grants)
    .set({ revokedAt: clock as unknown as Date, revokedBy })
    .where(and(eq(grants.tenantId, tenantId), which, isNull(grants.revokedAt)));
}

/** The same of approvals that no longer stand, under the approvals' locks. */
export async function revokeGrantsOf(
  tx: Executor,
  tenantId: string,
  approvalIds: string[],
  revokedBy: string | null,
): Promise<void> {
  if (approvalIds.length === 0) return;
  await revokeGrants(tx, tenantId, inArray(grants.approvalId, approvalIds), revokedBy);
}

/**
 * Counts one use of the grant that a decision rests on, and the revision it was used under; false, and nothing is
 * written, unless it stands and has a use left as this very statement sees it.
 */
export async function useGrant(tx: Executor, record: DecisionRecord & { grantId: string }): Promise<boolean> {
  const { policyRevision } = record.decision;
  const used = await tx
    .update(grants)
    .set({
      uses: sql`${grants.uses} + 1`,
      policyRevision,
      policyRevisions: withRevision(grants.policyRevisions, policyRevision),
    })
    .where(and(isGrant(record.tenantId, record.grantId), eq(grants.agent, record.agent), stands))
    .returning({ grantId: grants.grantId });
  return used.length > 0;
}

async function findAnswering({ db }: Database, query: GrantQuery): Promise<Grant[]> {
  const found = await selectGrants(db)
    .where(
      and(
        eq(grants.tenantId, query.tenantId),
        inArray(grants.fingerprint, fingerprintsOf(query)),
        eq(grants.agent, query.agent),
        stands,
      ),
    )
    .orderBy(asc(grants.grantId));
  return found.map(toGrant);
}

async function list({ db }: Database, tenantId: string, agent: string | null): Promise<Grant[]> {
  const ofAgent = agent === null ? undefined : eq(grants.agent, agent);
  const found = await selectGrants(db)
    .where(and(eq(grants.tenantId, tenantId), ofAgent, isInForce))
    .orderBy(desc(grants.grantId));
  return found.map(toGrant);
}

/** Ends the tenant's grants that `which` names, if they were last used under another revision. */
function voidOfOthers({ db }: Database, tenantId: string, which: SQL, activeRevision: string): Promise<void> {
  return revokeGrants(db, tenantId, and(which, ne(grants.policyRevision, activeRevision)), null);
}

function revoke(database: Database, writer: Writer, grantId: string): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    const revoked = await tx
      .update(grants)
      .set({ revokedAt: clock as unknown as Date, revokedBy: writer.principal })
      .where(and(isGrant(writer.tenantId, grantId), isNull(grants.revokedAt)))
      .returning({ grantId: grants.grantId });
    if (revoked.length === 0) throw notFound();
  });
}

/** Grants in the database; see the port. */
export function createGrantStore(database: Database): GrantStore {
  return {
    findAnswering: (query) => guarded(() => findAnswering(database, query)),
    voidDrifted: (tenantId, grantId, activeRevision) =>
      guarded(() => voidOfOthers(database, tenantId, eq(grants.grantId, grantId), activeRevision)),
    voidDenied: (query, activeRevision) =>
      guarded(() => {
        const which = inArray(grants.fingerprint, fingerprintsOf(query));
        return voidOfOthers(database, query.tenantId, which, activeRevision);
      }),
    list: (tenantId, agent) => guarded(() => list(database, tenantId, agent)),
    revoke: (writer, grantId) => revoke(database, writer, grantId),
  };
}
