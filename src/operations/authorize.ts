import type { DecisionContext, ToolCall } from '../core/action.ts';
import type { Approval, ApprovalStatus } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { canonicalAction } from '../core/canonical_action.ts';
import { revisionNotLoaded } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import { type ContextClaims, limitContext } from '../core/effective_context.ts';
import { Fault } from '../core/fault.ts';
import type { Decision, Denial } from '../core/policy.ts';
import type { AskRecord, DecisionRecord, IdempotencyClaim } from '../core/ports.ts';
import type { Deps } from './deps.ts';
import { claimAnswer } from './idempotent.ts';

export interface AuthorizeInput {
  toolCall: ToolCall;
  actionHash: string | undefined;
  context: ContextClaims;
  dryRun: boolean;
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
  denial: Denial | null;
  dryRun: boolean;
}

/** A call frozen: its canonical text, the text's hash, and the circumstances as used. */
interface FrozenCall {
  toolCall: ToolCall;
  canonicalAction: string;
  actionHash: string;
  context: DecisionContext;
}

/** How often a decision is made anew because the active revision moved meanwhile. */
const TRIES = 3;

function freeze(caller: Caller, input: AuthorizeInput): FrozenCall {
  const text = canonicalAction(input.toolCall);
  const actionHash = sha256Hex(text);
  if (input.actionHash !== undefined && input.actionHash !== actionHash) {
    throw new Fault(
      'action_hash_mismatch',
      'the hash sent is not the hash of the action sent. Compare `canonical_action` with the text you hashed',
      { members: { expected_action_hash: actionHash, canonical_action: text } },
    );
  }
  return {
    toolCall: input.toolCall,
    canonicalAction: text,
    actionHash,
    context: limitContext(input.context, caller.limits),
  };
}

function decide(deps: Deps, caller: Caller, call: FrozenCall): Decision {
  return deps.policy.current().decide({
    agent: { principal: caller.principal, groups: caller.groups, owner: caller.owner },
    toolCall: call.toolCall,
    context: call.context,
    now: deps.now(),
  });
}

function toRecord(deps: Deps, caller: Caller, call: FrozenCall, decision: Decision): DecisionRecord {
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
  };
}

function toAsk(deps: Deps, caller: Caller, decision: Decision): AskRecord | null {
  if (decision.decision !== 'require_approval') return null;
  const { approvalTtlSeconds, pendingLimit, askLimitPerHour } = deps.settings;
  return {
    approvalId: deps.newUuid(),
    owner: caller.owner,
    terms: decision.terms,
    ttlSeconds: Math.min(approvalTtlSeconds, decision.terms.ttlSeconds ?? approvalTtlSeconds),
    pendingLimit,
    askLimitPerHour,
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
    denial: record.denial,
    dryRun,
  };
}

/** Decides once and makes the decision durable; undefined when the active revision has moved. */
async function decideOnce(
  deps: Deps,
  caller: Caller,
  call: FrozenCall,
  dryRun: boolean,
  claim: IdempotencyClaim | null,
): Promise<AuthorizeAnswer | undefined> {
  const record = toRecord(deps, caller, call, decide(deps, caller, call));
  if (dryRun) {
    const activeRevision = await deps.tenants.readActiveRevision(caller.tenantId);
    if (activeRevision !== record.decision.policyRevision) return undefined;
    const answer = toAnswer(record, null, true);
    if (claim !== null) await deps.idempotency.keep(claim, JSON.stringify(answer));
    return answer;
  }
  const ask = toAsk(deps, caller, record.decision);
  if (ask === null && claim === null) {
    const written = await deps.decisions.recordDecision(record);
    return written === 'recorded' ? toAnswer(record, null, false) : undefined;
  }
  const keep = claim && {
    claim,
    answer: (approval: Approval | null) => JSON.stringify(toAnswer(record, approval, false)),
  };
  const written = await deps.decisions.recordDecisionWith(record, ask, keep);
  return written.kind === 'recorded' ? toAnswer(record, written.approval, false) : undefined;
}

async function decideDurably(
  deps: Deps,
  caller: Caller,
  call: FrozenCall,
  dryRun: boolean,
  claim: IdempotencyClaim | null,
): Promise<AuthorizeAnswer> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const answer = await decideOnce(deps, caller, call, dryRun, claim);
    if (answer === undefined) continue;
    deps.metrics.countDecision(answer.decision, dryRun);
    return answer;
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
    call = freeze(caller, input);
  } catch (error) {
    if (error instanceof Fault && error.code === 'action_hash_mismatch') deps.metrics.countHashMismatch();
    throw error;
  }
  if (input.idempotency === undefined) {
    const answer = await decideDurably(deps, caller, call, input.dryRun, null);
    return { answer, replayed: false };
  }
  return claimAnswer(deps, caller, call.context, input.idempotency, (claim) =>
    decideDurably(deps, caller, call, input.dryRun, claim),
  );
}
