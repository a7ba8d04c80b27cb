import type { DecisionContext } from './action.ts';
import { Fault, type FaultCode } from './fault.ts';
import type { Requirements, Scope, SelfApproval, VoteScope } from './policy.ts';
import type { Review, ReviewFacts } from './review.ts';
import type { VoteSignature } from './vote_signature.ts';

export type ApprovalStatus =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'consumed'
  | 'cancelled'
  | 'voided';

export type VoidReason = 'policy' | 'key_revoked' | 'agent_frozen';

export interface Vote {
  approver: string;
  decision: 'approve' | 'reject';
  scope: VoteScope;
  /** How long and how often a `window` holds; null for other scopes. */
  windowSeconds: number | null;
  maxUses: number | null;
  reason: string | null;
  at: Date;
  /** When the approver was first shown the approval, as far as the service knows. */
  shownAt: Date | null;
  /** The approver's groups when voting. */
  groups: string[];
  /** The approver's groups now; null when the approver is disabled. */
  presentGroups: string[] | null;
  /** Verified when the vote was cast; null for an unsigned one. */
  signature: VoteSignature | null;
}

/** What the agent reported of the effect, once; members keep their wire names: the row is what is shown. */
export interface ApprovalOutcome {
  outcome: 'executed' | 'failed' | 'unknown';
  effect: 'none' | 'occurred' | 'unknown' | null;
  enforcement_id: string | null;
  result_hash: string | null;
  detail: string | null;
  reported_at: string;
}

/** One edit of an approval's parameters. */
export interface ApprovalEdit {
  editor: string;
  reason: string | null;
  /** Hash of the action as this edit left it. */
  action_hash: string;
  at: string;
}

/** An earlier consume of the same action by the same agent. */
export interface RecentConsume {
  approvalId: string;
  consumedAt: Date;
  outcome: ApprovalOutcome | null;
}

/** An approval as read at one instant; `status` already says `expired` where its time has passed. */
export interface Approval {
  /** The database's clock when this was read; what `status` was computed at. */
  readAt: Date;
  tenantId: string;
  /** The UUID without its prefix. */
  approvalId: string;
  version: number;
  status: ApprovalStatus;
  agent: string;
  owner: string | null;
  edits: ApprovalEdit[];
  context: DecisionContext;
  originalAction: string;
  originalActionHash: string;
  /** The exact canonical JSON text that is hashed; tool calls are parsed back from it (EXACT BYTES). */
  canonicalAction: string;
  actionHash: string;
  resolved: { tool: string; action: string };
  toolFactsHash: string;
  /** Parameters whose values only the asking agent is shown. */
  secretParameters: string[];
  /** Null in rows older than reviews. */
  reviewFacts: ReviewFacts | null;
  /** As made when this version was; null in rows older than reviews. */
  review: Review | null;
  reason: string;
  determiningPolicies: string[];
  policyRevision: string;
  requirements: Requirements;
  selfApproval: SelfApproval[];
  maxScope: Scope;
  /** Votes on the present version, oldest first. */
  votes: Vote[];
  recent: RecentConsume[];
  decidedBy: string | null;
  decisionReason: string | null;
  voidReason: VoidReason | null;
  createdAt: Date;
  expiresAt: Date;
  decidedAt: Date | null;
  consumedAt: Date | null;
  consumerTokenHash: string | null;
  outcome: ApprovalOutcome | null;
  /** True when the connection that waits for the answer is gone: nobody would use a yes. */
  isAskerGone: boolean;
}

/** The calls that move an approval, as rows of the state table. */
export type ApprovalCall = 'decide' | 'consume' | 'cancel' | 'outcome';

const DECIDED = 'approval_already_decided';
const CONSUMED = 'approval_already_consumed';
const NOT_APPROVED = 'approval_not_approved';
const NOT_CONSUMED = 'approval_not_consumed';

/** The wire contract's state table: what each call meets in each state. `decide` is approve, reject and edit. */
export const STATE_TABLE: Record<ApprovalStatus, Record<ApprovalCall, 'ok' | FaultCode>> = {
  pending: { decide: 'ok', consume: NOT_APPROVED, cancel: 'ok', outcome: NOT_CONSUMED },
  approved: { decide: DECIDED, consume: 'ok', cancel: 'ok', outcome: NOT_CONSUMED },
  rejected: { decide: DECIDED, consume: NOT_APPROVED, cancel: DECIDED, outcome: NOT_CONSUMED },
  cancelled: { decide: DECIDED, consume: NOT_APPROVED, cancel: DECIDED, outcome: NOT_CONSUMED },
  expired: {
    decide: 'approval_expired',
    consume: 'approval_expired',
    cancel: 'approval_expired',
    outcome: NOT_CONSUMED,
  },
  voided: {
    decide: 'approval_voided',
    consume: 'approval_voided',
    cancel: 'approval_voided',
    outcome: NOT_CONSUMED,
  },
  consumed: { decide: CONSUMED, consume: CONSUMED, cancel: CONSUMED, outcome: 'ok' },
};

const STATE_DETAILS: Partial<Record<FaultCode, string>> = {
  approval_not_approved:
    'the approval cannot be consumed in this state. Wait with `GET /v1/approvals/:id?wait=25` while it is pending, else ask anew',
  approval_already_decided: 'the approval was decided before. Read it to see by whom and why',
  approval_already_consumed:
    'the approval was used before; it works once. Ask anew for another run of the same action',
  approval_expired: 'the approval has expired. Ask anew with `POST /v1/authorize`',
  approval_voided: 'the approval was voided and cannot be used. Ask anew with `POST /v1/authorize`',
  approval_not_consumed: 'an outcome is reported after the approval was consumed',
};

/**
 * The status at `now`, whether or not a sweeper has been by: a row whose time has passed reads as `expired` at once,
 * and a pending one whose asker is gone as `cancelled`. A yes that was given before the asker went stands: the same
 * agent may use it from elsewhere.
 */
export function effectiveStatus(
  stored: Exclude<ApprovalStatus, 'expired'>,
  expiresAt: Date,
  now: Date,
  isAskerGone: boolean,
): ApprovalStatus {
  const perishable = stored === 'pending' || stored === 'approved';
  if (perishable && expiresAt.getTime() <= now.getTime()) return 'expired';
  return stored === 'pending' && isAskerGone ? 'cancelled' : stored;
}

/** The fault that `code` means for this approval; names its state, and why it was voided. */
export function stateFault(approval: Approval, code: FaultCode): Fault {
  const members: Record<string, string> = { approval_status: approval.status };
  if (approval.voidReason !== null) members.void_reason = approval.voidReason;
  return new Fault(code, STATE_DETAILS[code] ?? 'the approval is in another state', { members });
}

/** @throws Fault when the state table refuses `call` in the approval's present state. */
export function assertState(approval: Approval, call: ApprovalCall): void {
  const verdict = STATE_TABLE[approval.status][call];
  if (verdict !== 'ok') throw stateFault(approval, verdict);
}

/** @throws Fault `stale_version` when the caller looked at another version (RFC 9110 §13.1.1). */
export function assertVersion(approval: Approval, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === approval.version) return;
  throw new Fault(
    'stale_version',
    'the approval has changed since it was read. Read it again and send its new `ETag` in `If-Match`',
    { members: { approval_status: approval.status } },
  );
}

/** @throws Fault `action_hash_mismatch` when a hash was sent and is not the approval's. */
export function assertActionHash(approval: Approval, actionHash: string | undefined): void {
  if (actionHash === undefined || actionHash === approval.actionHash) return;
  throw new Fault(
    'action_hash_mismatch',
    'the hash sent is not the one this approval is bound to, so nothing was done. Read the approval, hash its `canonical_action` yourself and compare',
    { members: { approval_status: approval.status } },
  );
}

/** What a consume says of where it runs; each member given must equal the approval's. */
export interface Binding {
  workspace?: string | null | undefined;
  environment?: string | null | undefined;
  session_id?: string | null | undefined;
}

/** @throws Fault `binding_mismatch` when a member of `binding` differs from the approval's. */
export function assertBinding(approval: Approval, binding: Binding): void {
  for (const member of ['workspace', 'environment', 'session_id'] as const) {
    if (binding[member] === undefined || binding[member] === approval.context[member]) continue;
    throw new Fault(
      'binding_mismatch',
      `the approval is bound to another \`${member}\`. Consume it where it was asked for, or ask anew from here`,
      { members: { approval_status: approval.status } },
    );
  }
}

/** Everyone who edited this approval, in any version. */
export function editorsOf(approval: Pick<Approval, 'edits'>): string[] {
  return [...new Set(approval.edits.map((edit) => edit.editor))];
}

/** The votes of those who could vote now, with the groups they are in now. */
export function presentVotes(votes: readonly Vote[]): Vote[] {
  return votes.flatMap((vote) =>
    vote.presentGroups === null ? [] : { ...vote, groups: vote.presentGroups },
  );
}
