import {
  type Approval,
  assertActionHash,
  assertBinding,
  assertState,
  type Binding,
  STATE_TABLE,
} from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { unavailable } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import { Fault } from '../core/fault.ts';
import { assertReadable, getReadable, parseApprovalId } from './access.ts';
import { computeAttemptKey } from './attempts.ts';
import type { Deps } from './deps.ts';
import { examineDrift, policyChanged } from './drift.ts';
import { transitionByRules } from './transition.ts';

export interface ConsumeInput {
  actionHash: string | undefined;
  consumerToken: string | undefined;
  binding: Binding;
}

export interface ConsumeAnswer {
  approvalId: string;
  actionHash: string;
  canonicalAction: string;
  consumedAt: Date;
  /** True for a repeat with the winner's own token: the effect may have happened already. */
  replayed: boolean;
}

/** How often a consume is tried anew after what stood in its way has gone. */
const TRIES = 3;

function hashToken(token: string | undefined): string | null {
  return token === undefined ? null : sha256Hex(token);
}

/** Whether this is the winner asking again for an answer it lost. */
function isReplay(approval: Approval, input: ConsumeInput): boolean {
  const tokenHash = hashToken(input.consumerToken);
  return (
    approval.status === 'consumed' &&
    tokenHash !== null &&
    approval.consumerTokenHash === tokenHash &&
    approval.outcome === null &&
    approval.expiresAt > approval.readAt
  );
}

function assertEditSeen(approval: Approval, input: ConsumeInput): void {
  if (approval.edits.length === 0 || input.actionHash !== undefined) return;
  throw new Fault(
    'precondition_required',
    'the approval was edited. Read it, hash its action yourself and send the hash as `action_hash`',
    { members: { approval_status: approval.status } },
  );
}

/**
 * Says why a consume was refused, in the contract's order, or how it may go on: as a replay, or once more.
 * @throws Fault.
 */
function explainRefusal(approval: Approval, caller: Caller, input: ConsumeInput): 'replay' | 'retry' {
  const replay = isReplay(approval, input);
  if (!replay) assertState(approval, 'consume');
  assertEditSeen(approval, input);
  assertActionHash(approval, input.actionHash);
  assertBinding(approval, input.binding);
  if (approval.agent !== caller.principal) {
    throw new Fault('forbidden', 'only the agent that asked consumes an approval. Use a key of that agent');
  }
  return replay ? 'replay' : 'retry';
}

/** Brings an approval decided under other rules up to the active ones. @throws Fault `policy_changed`. */
async function settleDrift(deps: Deps, caller: Caller, approvalId: string): Promise<void> {
  let wasVoidedHere = false;
  await transitionByRules(deps, caller, approvalId, (policy, locked) => {
    wasVoidedHere = false;
    const approval = assertReadable(locked?.approval, caller);
    // Moved on meanwhile: the caller reads what became of it.
    if (locked === undefined || STATE_TABLE[approval.status].consume !== 'ok') return [];
    const drift = examineDrift(deps, policy, locked, caller);
    wasVoidedHere = drift.kind === 'voided';
    return drift.changes;
  });
  if (wasVoidedHere) throw policyChanged();
}

/**
 * Spends an approved approval: of any number of calls, by any number of processes, one succeeds (SINGLE CONSUME).
 * A wrong hash, binding or caller spends nothing. Runs under `guardConsumeAttempts`.
 * @throws Fault in the contract's order of checks.
 */
export async function consume(
  deps: Deps,
  caller: Caller,
  id: string,
  input: ConsumeInput,
): Promise<ConsumeAnswer> {
  const approvalId = parseApprovalId(id);
  const request = {
    tenantId: caller.tenantId,
    approvalId,
    agent: caller.principal,
    keyId: caller.keyId,
    actionHash: input.actionHash ?? null,
    consumerTokenHash: hashToken(input.consumerToken),
    binding: presentMembers(input.binding),
    attemptKey: computeAttemptKey(caller, id),
    attemptLimit: deps.settings.attemptLimit,
  };
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const policyRevision =
      attempt === 1 ? caller.tenant.activeRevision : await deps.tenants.readActiveRevision(caller.tenantId);
    const heldRows = attempt === 1 ? 'skip locked' : 'wait';
    const consumed = await deps.approvals.consume({ ...request, policyRevision }, heldRows);
    if (consumed !== undefined) return { approvalId, ...consumed, replayed: false };
    await deps.keys.assertStands(caller.keyId);
    const approval = await getReadable(deps, caller, id);
    const next = explainRefusal(approval, caller, input);
    // What was thrown up to here is looked at by the counter's guard; what goes on is looked at now.
    await deps.throttle.assertAttemptsLeft(request.attemptKey);
    if (next === 'replay') return toReplay(approval);
    if (approval.policyRevision !== policyRevision) await settleDrift(deps, caller, approvalId);
  }
  throw unavailable(new Error('the approval could not be consumed, and nothing seems to stand in the way'));
}

/** Members given, null included; an absent member binds nothing. */
function presentMembers(binding: Binding): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(binding).filter((entry): entry is [string, string | null] => entry[1] !== undefined),
  );
}

function toReplay(approval: Approval): ConsumeAnswer {
  return {
    approvalId: approval.approvalId,
    actionHash: approval.actionHash,
    canonicalAction: approval.canonicalAction,
    consumedAt: approval.consumedAt ?? approval.readAt,
    replayed: true,
  };
}
