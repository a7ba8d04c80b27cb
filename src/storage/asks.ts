import { and, eq, gt, sql } from 'drizzle-orm';
import type { Approval } from '../core/approval.ts';
import { Fault } from '../core/fault.ts';
import type { AskRecord, DecisionRecord, DecisionStore } from '../core/ports.ts';
import { findApproval } from './approval_rows.ts';
import type { Database, Executor } from './database.ts';
import { insertDecision } from './decisions.ts';
import { storeAnswer } from './idempotency.ts';
import { approvals, principals } from './schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

/**
 * Holds an agent's asks one after the other, then counts them, so that concurrent asks cannot pass a limit
 * together.
 */
async function assertAskAllowed(tx: Executor, record: DecisionRecord, ask: AskRecord): Promise<void> {
  await tx
    .select({ principal: principals.principal })
    .from(principals)
    .where(and(eq(principals.tenantId, record.tenantId), eq(principals.principal, record.agent)))
    .for('update');
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
  });
  const approval = await findApproval(tx, record.tenantId, ask.approvalId);
  if (approval === undefined) throw new Error('an approval just written is not there');
  return approval;
}

/** Writes a decision, its approval and its kept answer together (ONE TRANSACTION); see `DecisionStore`. */
export function createAskRecorder(database: Database): DecisionStore['recordDecisionWith'] {
  return (record, ask, keep) =>
    inTransaction(database, async (tx) => {
      await lockStandingKey(tx, record.keyId);
      if (ask !== null) await assertAskAllowed(tx, record, ask);
      if (!(await insertDecision(tx, record))) return { kind: 'revision_moved' as const };
      const approval = ask === null ? null : await insertApproval(tx, record, ask);
      if (keep !== null) await storeAnswer(tx, keep.claim, keep.answer(approval));
      return { kind: 'recorded' as const, approval };
    });
}
