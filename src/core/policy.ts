import type { DecisionContext, ToolCall } from './action.ts';
import type { Role } from './caller.ts';

/** What an ask demands before it may run: collected from every determining ask. */
export interface Requirements {
  /** Votes needed, 1 to 10; never fewer than there are groups. */
  votes: number;
  /** Groups of which one vote each is needed, sorted. */
  groups: string[];
  signature: 'none' | 'webauthn';
}

/** Whose vote an ask lets count although they stand behind the action; empty for almost every ask. */
export type SelfApproval = 'agent' | 'owner' | 'editor';

export type Scope = 'once' | 'run' | 'session' | 'window';

/** The terms of an ask beside its votes. */
export interface AskTerms {
  requirements: Requirements;
  /** Shortest `@ttl_seconds` of the determining asks; null when none names one. */
  ttlSeconds: number | null;
  selfApproval: SelfApproval[];
  maxScope: Scope;
}

export interface Denial {
  by: 'person' | 'ledger' | 'pause' | 'unattended' | 'unroutable' | 'floor' | 'parameters';
  reason: string;
  /** Text for the agent's model: do not retry, reword or reach the same effect another way. */
  instruction: string;
}

interface DecisionCommon {
  reason: string;
  /** Ids of the policies that decided, sorted. */
  determiningPolicies: string[];
  policyRevision: string;
  /** What tool and action resolved to for look-ups and policy. */
  resolved: { tool: string; action: string };
  /** SHA-256 over the registry's facts of the resolved tool; part of the approval's binding. */
  toolFactsHash: string;
}

export type Decision =
  | (DecisionCommon & { decision: 'allow' })
  | (DecisionCommon & { decision: 'deny'; denial: Denial | null })
  | (DecisionCommon & { decision: 'require_approval'; terms: AskTerms });

export interface DecisionRequest {
  agent: { principal: string; groups: readonly string[]; owner: string | null };
  toolCall: ToolCall;
  context: DecisionContext;
  now: Date;
}

/** What an approver wants to do to an approval, as Cedar's `approve`, `reject`, `edit`, `cancel`. */
export type ApproverAction = 'approve' | 'reject' | 'edit' | 'cancel';

export interface ApproverRequest {
  action: ApproverAction;
  approver: { principal: string; groups: readonly string[]; roles: readonly Role[] };
  approval: {
    approvalId: string;
    agent: string;
    owner: string | null;
    /** Everyone who edited this approval, in any version. */
    editors: readonly string[];
    resolved: { tool: string; action: string };
    environment: string | null;
    requiredGroups: readonly string[];
    selfApproval: readonly SelfApproval[];
    /** True when the caller's own vote stands on the approval: such an approver may cancel. */
    hasOwnVote: boolean;
  };
}

export type ApproverDecision =
  | { kind: 'permitted' }
  | { kind: 'refused'; code: 'self_approval_forbidden' | 'approver_not_eligible'; reason: string };

/**
 * The policy set in force. Pure calls: no I/O, no clock. Both methods fail closed: whatever goes wrong inside
 * (an evaluation error, an unknown answer, a thrown error) is a deny or a refusal, never an exception.
 */
export interface PolicySet {
  /** SHA-256 of the canonical JSON of all policy texts by id, the schema and the registry's facts. */
  readonly revision: string;
  decide(request: DecisionRequest): Decision;
  judgeApprover(request: ApproverRequest): ApproverDecision;
}
