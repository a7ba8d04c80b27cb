import type { Approval, ApprovalOutcome, ApprovalStatus, VoidReason } from './approval.ts';
import type { AgentExecRules, AllowlistEntry } from './exec_approvals.ts';
import type { GrantTerms } from './grant.ts';
import type { AskTerms, Decision, VoteScope } from './policy.ts';
import type { Review } from './review.ts';
import type { VoteProof } from './vote_statement.ts';

// What the operations need of approvals. Errors are those of `ports.ts`.

export interface ApprovalFilter {
  status: ApprovalStatus | null;
  agent: string | null;
  /** Resolved tool. */
  tool: string | null;
  /** A session of the agent; absent means any. */
  sessionId?: string;
  outcomeMissing: boolean;
  limit: number;
  /** Approval id of the last item of the page before. */
  before: string | null;
}

/** An approval under its row's lock, and what its judgement needs. */
export interface LockedApproval {
  approval: Approval;
  activeRevision: string;
  /** The asking agent now. */
  agent: { groups: string[]; riskTier: string };
  /** What exec approvals say of the asking agent now. */
  exec: AgentExecRules;
  /** Groups of the caller now, under the key's lock. */
  callerGroups: string[];
}

/** What may be written to a locked approval; several are written in order, in one transaction. */
export type ApprovalChange =
  | {
      kind: 'vote';
      decision: 'approve' | 'reject';
      groups: readonly string[];
      scope: VoteScope;
      /** The view that the approver was shown, if they said so. */
      viewHash: string | null;
      windowSeconds: number | null;
      maxUses: number | null;
      reason: string | null;
      /** The verified signature of a signed vote. */
      proof: VoteProof | null;
      /** `pending` while places stay open. */
      status: 'pending' | 'approved' | 'rejected';
    }
  | {
      kind: 'edit';
      reason: string | null;
      canonicalAction: string;
      actionHash: string;
      terms: AskTerms;
      decision: Decision;
      expiresAt: Date;
      review: Review;
    }
  | { kind: 'revalidate'; terms: AskTerms; decision: Decision; expiresAt: Date; review: Review }
  /** Makes the approval just given hold for more than one run. */
  | { kind: 'grant'; grantId: string; fingerprint: string; terms: GrantTerms }
  /** Adds to the agent's allowlist, in the tenant's document, what it does not have yet. */
  | { kind: 'allowlist'; entries: AllowlistEntry[] }
  | { kind: 'cancel'; reason: string | null }
  | { kind: 'void'; voidReason: VoidReason }
  | { kind: 'outcome'; outcome: Omit<ApprovalOutcome, 'reported_at'> };

export interface ConsumeRequest {
  tenantId: string;
  approvalId: string;
  agent: string;
  keyId: string;
  /** The revision this process evaluates. */
  policyRevision: string;
  actionHash: string | null;
  consumerTokenHash: string | null;
  binding: { workspace?: string | null; environment?: string | null; session_id?: string | null };
  /** Key of the attempt counter and the count at which attempts are refused. */
  attemptKey: string;
  attemptLimit: number;
}

/** Whether a row that somebody else holds is left alone, or waited for (2 s at most). */
export type HeldRows = 'skip locked' | 'wait';

export interface ConsumedApproval {
  actionHash: string;
  canonicalAction: string;
  consumedAt: Date;
}

export interface ApprovalStore {
  find(tenantId: string, approvalId: string): Promise<Approval | undefined>;
  list(tenantId: string, filter: ApprovalFilter): Promise<{ items: Approval[]; next: string | null }>;
  /** When people last decided an approval of the tenant, as far as the newest few tell; null when none did. */
  findLastDecidedAt(tenantId: string): Promise<Date | null>;
  /** Notes that an approver was shown an approval; the first time is kept. */
  recordShown(tenantId: string, approvalId: string, approver: string): Promise<void>;
  /** How many approvals of all tenants wait for a decision now. */
  countPending(): Promise<number>;
  /**
   * Locks, then judges: takes the caller's key and the approval's row, calls `judge` with the row as locked, and
   * writes what it returns on the same conditions again. `judge` is pure, may run more than once, and throws the
   * Fault that refuses. Returns the approval after the change.
   * @throws Fault `unauthenticated`, `agent_frozen` when the caller's key no longer stands.
   */
  transition(
    caller: { tenantId: string; keyId: string; principal: string },
    approvalId: string,
    judge: (locked: LockedApproval | undefined) => ApprovalChange[],
  ): Promise<Approval>;
  /**
   * SINGLE CONSUME: one statement that locks, then judges every condition. Undefined when the row is not
   * consumed by this very request, for whatever reason: read why, and wait for the row when nothing else stands
   * in the way.
   */
  consume(request: ConsumeRequest, heldRows: HeldRows): Promise<ConsumedApproval | undefined>;
}
