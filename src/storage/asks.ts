import { and, eq, gt, type SQL, sql } from 'drizzle-orm';
import type { Approval } from '../core/approval.ts';
import { approvalsSubject } from '../core/asker_ports.ts';
import { agentFrozen } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { AskRecord, DecisionMoved, DecisionRecord, DecisionStore } from '../core/ports.ts';
import { findApproval } from './approval_rows.ts';
import { ASKER_LEASE_SECONDS } from './asker_leases.ts';
import type { Database, Executor } from './database.ts';
import { insertDecision } from './decisions.ts';
import { stillSeen } from './exec_changes.ts';
import { recordUses } from './exec_uses.ts';
import { useGrant } from './grants.ts';
import { storeAnswer } from './idempotency.ts';
import { recordRun } from './runs.ts';
import { approvals, principals } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

/**
 * Holds an agent's asks one after the other, then counts them, so that concurrent asks cannot pass a limit
 * together.
 */
async function assertAskAllowed(tx: Executor, record: DecisionRecord, ask: AskRecord): Promise<void> {
  const [agent] = await tx
    .select({ frozenAt: principals.frozenAt })
    .from(principals)
    .where(and(eq(principals.tenantId, record.tenantId), eq(principals.principal, record.agent)))
    .for('update');
  // A key made after its agent's freeze began is not among those that the freeze holds.
  if (agent?.frozenAt != null) throw agentFrozen();
  const [counts] = await tx
    .select({
      pending: sql<number>`(count(*) filter (where ${approvals.status} = 'pending'
        and ${approvals.expiresAt} > clock_timestamp()))::int`,
      lastHour: sql<number>`(count(*) filter (where ${approvals.createdAt} > clock_timestamp() - interval '1 hour'))::int`,
      oldestLeavesHour: sql<number>`coalesce(ceil(extract(epoch from min(${approvals.createdAt}) filter (
        where ${approvals.createdAt} > clock_timestamp() - interval '1 hour') + interval '1 hour' - clock_timestamp())), 1)::int`,
      nextExpiry: sql<number>`coalesce(ceil(extract(epoch from min(${approvals.expiresAt}) filter (
        where ${approvals.status} = 'pending' and ${approvals.expiresAt} > clock_timestamp()) - clock_timestamp())), 1)::int`,
    })
    .from(approvals)
    .where(
      and(
        eq(approvals.tenantId, record.tenantId),
        eq(approvals.agent, record.agent),
        // The longest life of an approval is a day: nothing older is pending.
        gt(approvals.createdAt, sql`clock_timestamp() - interval '25 hours'`),
      ),
    );
  if (counts === undefined) throw new Error('an aggregate without a row');
  if (counts.pending >= ask.pendingLimit) {
    throw new Fault(
      'too_many_pending',
      `this agent has ${counts.pending} approvals pending, the most it may have. Wait until some are decided, or cancel some`,
      { retryAfterSeconds: Math.max(counts.nextExpiry, 1) },
    );
  }
  if (counts.lastHour >= ask.askLimitPerHour) {
    throw new Fault(
      'throttled',
      `this agent has asked ${counts.lastHour} times within the hour, the most it may. Ask less, or later`,
      { retryAfterSeconds: Math.max(counts.oldestLeavesHour, 1) },
    );
  }
}

/** An ask that ends with the connection that waits for it is held by a lease from the start. */
function toAskerColumns({ askerConnection }: AskRecord): Partial<typeof approvals.$inferInsert> {
  if (askerConnection === null) return {};
  const askerLeaseUntil = sql`clock_timestamp() + make_interval(secs => ${ASKER_LEASE_SECONDS}::int)`;
  return { askerConnection, askerLeaseUntil: askerLeaseUntil as unknown as Date };
}

async function insertApproval(tx: Executor, record: DecisionRecord, ask: AskRecord): Promise<Approval> {
  const { decision } = record;
  await tx.insert(approvals).values({
    tenantId: record.tenantId,
    approvalId: ask.approvalId,
    decisionId: record.decisionId,
    agent: record.agent,
    owner: ask.owner,
    context: record.context,
    originalAction: record.canonicalAction,
    originalActionHash: record.actionHash,
    canonicalAction: record.canonicalAction,
    actionHash: record.actionHash,
    resolvedTool: decision.resolved.tool,
    resolvedAction: decision.resolved.action,
    toolFactsHash: decision.toolFactsHash,
    secretParameters: decision.secretParameters,
    reviewFacts: decision.reviewFacts,
    review: ask.review,
    reason: decision.reason,
    determiningPolicies: decision.determiningPolicies,
    policyRevision: decision.policyRevision,
    policyRevisions: [decision.policyRevision],
    requiredVotes: ask.terms.requirements.votes,
    requiredGroups: ask.terms.requirements.groups,
    requiredSignature: ask.terms.requirements.signature,
    selfApproval: ask.terms.selfApproval,
    maxScope: ask.terms.maxScope,
    expiresAt: sql`clock_timestamp() + make_interval(secs => ${ask.ttlSeconds}::int)` as unknown as Date,
    ...toAskerColumns(ask),
  });
  const approval = await findApproval(tx, record.tenantId, ask.approvalId);
  if (approval === undefined) throw new Error('an approval just written is not there');
  return approval;
}

/** What policy is told of people: whether a pause or a rejection of the action holds now. */
function askFacts(record: DecisionRecord, ask: AskRecord) {
  const { tenantId, agent, context } = record;
  const { session_id: sessionId } = context;
  return {
    paused: sql`(exists (select from agent_pauses p where p.tenant_id = ${tenantId} and p.agent = ${agent}
        and p.paused_at is not null)
      or exists (select from sessions s where s.tenant_id = ${tenantId} and s.agent = ${agent}
        and s.session_id = ${sessionId} and s.paused_at is not null))`,
    denied: sql`exists (select from denials d where d.tenant_id = ${tenantId} and d.agent = ${agent}
      and d.digest = ${ask.denialDigest} and d.lifted_at is null and (d.session_id = ${sessionId}
        or d.created_at > clock_timestamp() - make_interval(secs => ${ask.denialSeconds}::int)))`,
  };
}

/** An ask is written while what policy was told is still so; whether that stands in its way was policy's word. */
function stillTold(record: DecisionRecord, ask: AskRecord): SQL[] {
  const { paused, denied } = askFacts(record, ask);
  const { decidedWith } = ask;
  return [sql`${paused} = ${decidedWith.paused}`, sql`${denied} = ${decidedWith.deniedBefore}`];
}

/** A decision on a command is written while exec approvals are those that it was made from. */
function stillSeenBy({ tenantId, exec }: DecisionRecord): SQL[] {
  return exec === null ? [] : stillSeen(tenantId, exec.seen);
}

/** Why a decision was not written. */
async function findMoved(
  tx: Executor,
  record: DecisionRecord,
  ask: AskRecord | null,
): Promise<DecisionMoved> {
  const seen = stillSeenBy(record);
  if (seen.length > 0) {
    const [found] = await tx.execute<{ seen: boolean }>(sql`select ${sql.join(seen, sql` and `)} as seen`);
    if (found?.seen !== true) return { kind: 'exec_moved' };
  }
  if (ask === null) return { kind: 'revision_moved' };
  const { paused, denied } = askFacts(record, ask);
  const [found] = await tx.execute<{ paused: boolean; denied: boolean }>(
    sql`select ${paused} as paused, ${denied} as denied`,
  );
  if (found === undefined) throw new Error('a selection without a row');
  const { decidedWith } = ask;
  if (found.paused !== decidedWith.paused) return { kind: 'paused', paused: found.paused };
  return { kind: found.denied === decidedWith.deniedBefore ? 'revision_moved' : 'denied' };
}

function hasGrant(record: DecisionRecord): record is DecisionRecord & { grantId: string } {
  return record.grantId !== null;
}

/** Thrown, so that a use that was counted already is rolled back. */
class Moved extends Error {
  constructor(readonly moved: DecisionMoved) {
    super('what the decision rests on has moved');
  }
}

/** Writes a decision, its approval, its use of a grant and its kept answer together (ONE TRANSACTION). */
async function writeDecision(
  tx: Executor,
  record: DecisionRecord,
  ask: AskRecord | null,
  keep: Parameters<DecisionStore['recordDecisionWith']>[2],
) {
  await lockStandingKey(tx, record.keyId);
  if (ask !== null) await assertAskAllowed(tx, record, ask);
  if (hasGrant(record) && !(await useGrant(tx, record))) throw new Moved({ kind: 'grant_spent' });
  const conditions = [...stillSeenBy(record), ...(ask === null ? [] : stillTold(record, ask))];
  if (!(await insertDecision(tx, record, conditions))) throw new Moved(await findMoved(tx, record, ask));
  await recordRun(tx, record);
  if (record.exec !== null) {
    await recordUses(tx, record.tenantId, record.exec.seen.workspace, record.exec.uses);
  }
  const approval = ask === null ? null : await insertApproval(tx, record, ask);
  if (keep !== null) await storeAnswer(tx, keep.claim, keep.answer(approval));
  return { kind: 'recorded' as const, approval };
}

/** See `DecisionStore.recordDecisionWith`. */
export function createAskRecorder(
  database: Database,
  publisher: SignalPublisher,
): DecisionStore['recordDecisionWith'] {
  return async (record, ask, keep) => {
    try {
      const recorded = await inTransaction(database, (tx) => writeDecision(tx, record, ask, keep));
      if (ask !== null) publisher.publish([approvalsSubject(record.tenantId)]);
      return recorded;
    } catch (error) {
      if (error instanceof Moved) return error.moved;
      throw error;
    }
  };
}
