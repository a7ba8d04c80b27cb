import { and, eq, gt, inArray, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { Approval } from '../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../core/approval_ports.ts';
import { subjectsOf } from '../core/asker_ports.ts';
import { UNRATED } from '../core/caller.ts';
import { unavailable } from '../core/common_faults.ts';
import type { AskTerms, Decision } from '../core/policy.ts';
import { findApproval, isApproval } from './approval_rows.ts';
import { withRevision } from './columns.ts';
import type { Database, Executor } from './database.ts';
import { addAllowlistEntries } from './exec_changes.ts';
import { selectExecRules } from './exec_documents.ts';
import { insertGrant, revokeGrantsOf } from './grants.ts';
import { recordRejection } from './ledger.ts';
import { approvals, principals, votes } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { isRevisionActive, lockStandingKey, readActiveRevision } from './standing.ts';
import { inTransaction } from './transaction.ts';
import { spendProof } from './webauthn_challenges.ts';

interface Actor {
  tenantId: string;
  keyId: string;
  principal: string;
}

/** A change of the approval's own row. */
type RowChange = Exclude<ApprovalChange, { kind: 'grant' | 'allowlist' }>;

type Judge = (locked: LockedApproval | undefined) => ApprovalChange[];

type ApprovalColumns = { [Column in keyof typeof approvals.$inferInsert]?: unknown };

/** How often a change is tried anew when time ran out between the judgement and the write. */
const TRIES = 3;

const clock = sql`clock_timestamp()`;
const isoNow = sql`to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const nextVersion = sql`${approvals.version} + 1`;

function toTermsColumns(terms: AskTerms, decision: Decision): ApprovalColumns {
  return {
    reason: decision.reason,
    determiningPolicies: decision.determiningPolicies,
    resolvedTool: decision.resolved.tool,
    resolvedAction: decision.resolved.action,
    policyRevision: decision.policyRevision,
    policyRevisions: withRevision(approvals.policyRevisions, decision.policyRevision),
    toolFactsHash: decision.toolFactsHash,
    secretParameters: decision.secretParameters,
    reviewFacts: decision.reviewFacts,
    requiredVotes: terms.requirements.votes,
    requiredGroups: terms.requirements.groups,
    requiredSignature: terms.requirements.signature,
    selfApproval: terms.selfApproval,
    maxScope: terms.maxScope,
  };
}

function editRecord(change: { reason: string | null; actionHash: string }, actor: Actor): string {
  return JSON.stringify({ editor: actor.principal, reason: change.reason, action_hash: change.actionHash });
}

/** The columns that a change sets. */
function toColumns(change: RowChange, actor: Actor): ApprovalColumns {
  const decided = (reason: string | null) => ({
    decidedBy: actor.principal,
    decidedAt: clock,
    decisionReason: reason,
  });
  switch (change.kind) {
    case 'vote':
      return change.status === 'pending'
        ? { status: 'pending' }
        : { status: change.status, ...decided(change.reason) };
    case 'edit':
      return {
        ...toTermsColumns(change.terms, change.decision),
        version: nextVersion,
        votesFromVersion: nextVersion,
        edits: sql`${approvals.edits} || jsonb_build_array(${editRecord(change, actor)}::jsonb
          || jsonb_build_object('at', ${isoNow}))`,
        canonicalAction: change.canonicalAction,
        actionHash: change.actionHash,
        expiresAt: change.expiresAt,
        review: change.review,
      };
    case 'revalidate':
      return {
        ...toTermsColumns(change.terms, change.decision),
        expiresAt: change.expiresAt,
        review: change.review,
      };
    case 'cancel':
      return { status: 'cancelled', ...decided(change.reason) };
    case 'void':
      return { status: 'voided', voidedAt: clock, voidReason: change.voidReason };
    case 'outcome':
      return {
        outcome: sql`${JSON.stringify(change.outcome)}::jsonb || jsonb_build_object('reported_at', ${isoNow})`,
      };
  }
}

/**
 * What must still hold at the very write. The row is locked, so of the row only its time can have run out; the
 * tenant's active revision is not, and may have moved.
 */
function stillHolds(change: RowChange, { approval, activeRevision }: LockedApproval): SQL | undefined {
  if (change.kind === 'outcome') return eq(approvals.status, 'consumed');
  return and(
    eq(approvals.status, approval.status as 'pending' | 'approved'),
    gt(approvals.expiresAt, clock),
    isRevisionActive(approval.tenantId, activeRevision),
  );
}

type VoteChange = Extract<ApprovalChange, { kind: 'vote' }>;

/** Writes a vote in place of any that the same approver has on the approval: one for each principal counts. */
async function writeVote(tx: Executor, actor: Actor, approval: Approval, change: VoteChange): Promise<void> {
  const { tenantId, principal: approver, keyId } = actor;
  const { approvalId, version } = approval;
  const { decision, scope, viewHash, windowSeconds, maxUses, reason, proof } = change;
  if (proof !== null) await spendProof(tx, actor, proof);
  const cast = {
    keyId,
    groups: [...change.groups],
    decision,
    scope,
    viewHash,
    windowSeconds,
    maxUses,
    reason,
    signature: proof?.signature ?? null,
    shownAt: sql`(select w.shown_at from approval_views w where w.tenant_id = ${tenantId}
      and w.approval_id = ${approvalId} and w.principal = ${approver})` as unknown as Date,
  };
  await tx
    .update(votes)
    .set({ droppedAt: clock as unknown as Date })
    .where(
      and(
        eq(votes.tenantId, tenantId),
        eq(votes.approvalId, approvalId),
        eq(votes.approver, approver),
        lt(votes.version, version),
        isNull(votes.droppedAt),
      ),
    );
  await tx
    .insert(votes)
    .values({ tenantId, approvalId, version, approver, ...cast })
    .onConflictDoUpdate({
      target: [votes.tenantId, votes.approvalId, votes.version, votes.approver],
      set: { ...cast, at: clock, droppedAt: null },
    });
}

/** Writes one change; false when its condition no longer held. */
async function writeChange(
  tx: Executor,
  actor: Actor,
  locked: LockedApproval,
  change: ApprovalChange,
): Promise<boolean> {
  const { approval } = locked;
  if (change.kind === 'grant') {
    await insertGrant(tx, actor, approval, change);
    return true;
  }
  if (change.kind === 'allowlist') {
    await addAllowlistEntries(tx, actor, approval.agent, change.entries);
    return true;
  }
  // Before what it leads to, so that both are told in this order.
  if (change.kind === 'vote') await writeVote(tx, actor, approval, change);
  const written = await tx
    .update(approvals)
    .set(toColumns(change, actor) as Partial<typeof approvals.$inferInsert>)
    .where(and(isApproval(actor.tenantId, approval.approvalId), stillHolds(change, locked)))
    .returning({ version: approvals.version });
  if (written.length === 0) return false;
  if (change.kind === 'vote' && change.decision === 'reject') {
    await recordRejection(tx, actor, approval, change.reason);
  }
  if (change.kind === 'cancel' || change.kind === 'void') {
    await revokeGrantsOf(tx, actor.tenantId, [approval.approvalId], actor.principal);
  }
  return true;
}

/** The approval under its row's lock, read after the lock was had: a wait for the lock is part of the past. */
async function lockApproval(
  tx: Executor,
  actor: Actor,
  approvalId: string,
): Promise<LockedApproval | undefined> {
  await lockStandingKey(tx, actor.keyId);
  await tx
    .select({ approvalId: approvals.approvalId })
    .from(approvals)
    .where(isApproval(actor.tenantId, approvalId))
    .for('update');
  const approval = await findApproval(tx, actor.tenantId, approvalId);
  if (approval === undefined) return undefined;
  const activeRevision = await readActiveRevision(tx, actor.tenantId);
  const found = await tx
    .select({ principal: principals.principal, groups: principals.groups, riskTier: principals.riskTier })
    .from(principals)
    .where(
      and(
        eq(principals.tenantId, actor.tenantId),
        inArray(principals.principal, [approval.agent, actor.principal]),
      ),
    );
  const agent = found.find(({ principal }) => principal === approval.agent);
  const caller = found.find(({ principal }) => principal === actor.principal);
  return {
    approval,
    activeRevision,
    agent: { groups: agent?.groups ?? [], riskTier: agent?.riskTier ?? UNRATED },
    exec: await selectExecRules(tx, actor.tenantId, approval.agent, approval.context.workspace),
    callerGroups: caller?.groups ?? [],
  };
}

async function tryTransition(
  tx: Executor,
  actor: Actor,
  approvalId: string,
  judge: Judge,
): Promise<{ approval: Approval; changed: boolean } | undefined> {
  const locked = await lockApproval(tx, actor, approvalId);
  const changes = judge(locked);
  if (locked === undefined) throw new TypeError('an approval that is not there cannot be changed');
  for (const change of changes) {
    if (!(await writeChange(tx, actor, locked, change))) return undefined;
  }
  const approval =
    changes.length === 0 ? locked.approval : await findApproval(tx, actor.tenantId, approvalId);
  return approval && { approval, changed: changes.length > 0 };
}

class ConditionLost extends Error {}

/** Locks, then judges, then writes on the same conditions again; see `ApprovalStore.transition`. */
export function createTransition(database: Database, publisher: SignalPublisher) {
  return async (actor: Actor, approvalId: string, judge: Judge): Promise<Approval> => {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      try {
        const done = await inTransaction(database, async (tx) => {
          const result = await tryTransition(tx, actor, approvalId, judge);
          // Thrown, so that what the lost change's forerunners wrote is rolled back.
          if (result === undefined) throw new ConditionLost();
          return result;
        });
        if (done.changed) publisher.publish(subjectsOf(actor.tenantId, [approvalId]));
        return done.approval;
      } catch (error) {
        if (!(error instanceof ConditionLost)) throw error;
      }
    }
    throw unavailable(new Error('the condition was lost at each try'));
  };
}
