import type { Approval, ApprovalStatus } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { revisionNotLoaded } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import type { Decision, Denial } from '../core/policy.ts';
import type { AskRecord, DecisionMoved, DecisionRecord, IdempotencyClaim } from '../core/ports.ts';
import { type DecidedCall, decideCall, denialDigestOf } from './decide_call.ts';
import type { Deps } from './deps.ts';
import { readExecRules } from './exec_rules.ts';
import { type CallInput, type FrozenCall, freezeCall } from './frozen_call.ts';
import { claimAnswer, computeStanding } from './idempotent.ts';
import { maskerOf } from './masking.ts';
import { renderFor } from './review.ts';

export interface AuthorizeInput extends CallInput {
  dryRun: boolean;
  /** The connection that waits for the answer, where an ask ends with it. */
  askerConnection?: string;
  idempotency: { key: string; fingerprint: string } | undefined;
}

/** A decision as answered; plain JSON values, so that an idempotent answer is kept as it was given. */
export interface AuthorizeAnswer {
  decisionId: string;
  decision: Decision['decision'];
  reason: string;
  determiningPolicies: string[];
  policyRevision: string;
  actionHash: string;
  canonicalAction: string;
  resolved: { tool: string; action: string };
  approval: {
    approvalId: string;
    status: ApprovalStatus;
    expiresAt: string;
    actionHash: string;
    version: number;
  } | null;
  grantId: string | null;
  denial: Denial | null;
  dryRun: boolean;
}

/** How often a decision is made anew because what it rests on moved meanwhile. */
const TRIES = 5;

function toRecord(deps: Deps, caller: Caller, call: FrozenCall, decided: DecidedCall): DecisionRecord {
  const { decision, grantId, exec } = decided;
  return {
    tenantId: caller.tenantId,
    decisionId: deps.newUuid(),
    agent: caller.principal,
    keyId: caller.keyId,
    decision,
    denial: decision.decision === 'deny' ? decision.denial : null,
    canonicalAction: call.canonicalAction,
    actionHash: call.actionHash,
    context: call.context,
    grantId,
    exec,
  };
}

function toAsk(
  deps: Deps,
  caller: Caller,
  call: FrozenCall,
  decided: DecidedCall,
  askerConnection: string | null,
): AskRecord | null {
  const { decision, deniedBefore } = decided;
  if (decision.decision !== 'require_approval') return null;
  const { approvalTtlSeconds, pendingLimit, askLimitPerHour, denialSeconds } = deps.settings;
  return {
    approvalId: deps.newUuid(),
    owner: caller.owner,
    terms: decision.terms,
    ttlSeconds: Math.min(approvalTtlSeconds, decision.terms.ttlSeconds ?? approvalTtlSeconds),
    pendingLimit,
    askLimitPerHour,
    denialDigest: denialDigestOf(caller, call, decision.resolved),
    denialSeconds,
    review: renderFor(
      { canonicalAction: call.canonicalAction, originalAction: call.canonicalAction },
      decision,
      maskerOf(caller),
    ),
    askerConnection,
    decidedWith: { paused: call.paused, deniedBefore },
  };
}

function toAnswer(record: DecisionRecord, approval: Approval | null, dryRun: boolean): AuthorizeAnswer {
  const { decision } = record;
  return {
    decisionId: record.decisionId,
    decision: decision.decision,
    reason: decision.reason,
    determiningPolicies: decision.determiningPolicies,
    policyRevision: decision.policyRevision,
    actionHash: record.actionHash,
    canonicalAction: record.canonicalAction,
    resolved: decision.resolved,
    approval: approval && {
      approvalId: approval.approvalId,
      status: approval.status,
      expiresAt: approval.expiresAt.toISOString(),
      actionHash: approval.actionHash,
      version: approval.version,
    },
    grantId: record.grantId,
    denial: record.denial,
    dryRun,
  };
}

/** What a decision is made from, beside the call. */
interface Ground {
  revision: string;
  input: AuthorizeInput;
  claim: IdempotencyClaim | null;
}

/** Decides once and makes the decision durable, or says what has moved. */
async function decideOnce(
  deps: Deps,
  caller: Caller,
  call: FrozenCall,
  { revision, input, claim }: Ground,
): Promise<AuthorizeAnswer | DecisionMoved> {
  const policy = await deps.policy.load(caller.tenantId, revision);
  const decided = await decideCall(deps, policy, caller, call);
  const record = toRecord(deps, caller, call, decided);
  const ground = { ...call, exec: decided.exec?.seen ?? null };
  if (input.dryRun) {
    const activeRevision = await deps.tenants.readActiveRevision(caller.tenantId);
    if (activeRevision !== revision) return { kind: 'revision_moved' };
    const answer = toAnswer(record, null, true);
    if (claim !== null) {
      const standing = computeStanding(caller, ground, revision);
      await deps.idempotency.keep({ ...claim, standing }, JSON.stringify(answer));
    }
    return answer;
  }
  const ask = toAsk(deps, caller, call, decided, input.askerConnection ?? null);
  if (ask === null && claim === null && record.grantId === null && record.exec === null) {
    const written = await deps.decisions.recordDecision(record);
    return written === 'recorded' ? toAnswer(record, null, false) : { kind: 'revision_moved' };
  }
  // What moved since the key was claimed is part of what this answer rests on.
  const keep = claim && {
    claim: { ...claim, standing: computeStanding(caller, ground, revision) },
    answer: (approval: Approval | null) => JSON.stringify(toAnswer(record, approval, false)),
  };
  const written = await deps.decisions.recordDecisionWith(record, ask, keep);
  return written.kind === 'recorded' ? toAnswer(record, written.approval, false) : written;
}

/** Decides until nothing has moved between decision and record. @throws Fault `unavailable` when that never rests. */
async function decideDurably(
  deps: Deps,
  caller: Caller,
  frozen: FrozenCall,
  input: AuthorizeInput,
  claim: IdempotencyClaim | null,
): Promise<AuthorizeAnswer> {
  let call = frozen;
  let revision = claim?.policyRevision ?? caller.tenant.activeRevision;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const answer = await decideOnce(deps, caller, call, { revision, input, claim });
    if (!('kind' in answer)) {
      deps.metrics.countDecision(answer.decision, input.dryRun);
      return answer;
    }
    // A rejection or a spent grant is found when the call is decided again; these two are not.
    if (answer.kind === 'paused') call = { ...call, paused: answer.paused };
    if (answer.kind === 'revision_moved') revision = await deps.tenants.readActiveRevision(caller.tenantId);
  }
  throw revisionNotLoaded();
}

/**
 * Decides whether a tool call may run, and makes the decision durable before it is answered. An ask makes an
 * approval of its own, bound to the exact canonical bytes.
 * @throws Fault `action_hash_mismatch`, `forbidden`, `throttled`, `too_many_pending`, `idempotency_key_reused`,
 *   `idempotency_in_flight`, `unauthenticated`, `agent_frozen`, `unavailable`.
 */
export async function authorize(
  deps: Deps,
  caller: Caller,
  input: AuthorizeInput,
): Promise<{ answer: AuthorizeAnswer; replayed: boolean }> {
  let call: FrozenCall;
  try {
    call = await freezeCall(deps, caller, input);
  } catch (error) {
    if (error instanceof Fault && error.code === 'action_hash_mismatch') deps.metrics.countHashMismatch();
    throw error;
  }
  if (input.idempotency === undefined) {
    const answer = await decideDurably(deps, caller, call, input, null);
    return { answer, replayed: false };
  }
  const policy = await deps.policy.load(caller.tenantId, caller.tenant.activeRevision);
  const { seen } = await readExecRules(deps, policy, caller, call);
  return claimAnswer(deps, caller, { ...call, exec: seen }, input.idempotency, (claim) =>
    decideDurably(deps, caller, call, input, claim),
  );
}
