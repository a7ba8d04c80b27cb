import type { DecisionContext, ToolCall } from './action.ts';
import type { Role } from './caller.ts';
import type { AgentExecRules } from './exec_approvals.ts';
import type { JsonObject } from './json.ts';
import type { ReviewFacts } from './review.ts';

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

/** How far an approver may widen a yes, narrowest first. */
export const SCOPES = ['once', 'run', 'session', 'window'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a vote may say: a scope, or that the executables are to be allowed from now on. */
export const VOTE_SCOPES = [...SCOPES, 'allowlist'] as const;
export type VoteScope = (typeof VOTE_SCOPES)[number];

/** An operator's explicit word on a tool, strictest first. */
export const PERMISSIONS = ['deny', 'ask', 'allow'] as const;
export type Permission = (typeof PERMISSIONS)[number];

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
  /** Parameters of the resolved tool that hold secrets. */
  secretParameters: string[];
  /** What else the registry says of it that a review needs. */
  reviewFacts: ReviewFacts;
}

export type AllowDecision = DecisionCommon & { decision: 'allow' };
export type DenyDecision = DecisionCommon & { decision: 'deny'; denial: Denial | null };
export type AskDecision = DecisionCommon & { decision: 'require_approval'; terms: AskTerms };
export type Decision = AllowDecision | DenyDecision | AskDecision;

export interface DecisionRequest {
  agent: { principal: string; groups: readonly string[]; owner: string | null; riskTier: string };
  /** What exec approvals say of the agent; asked for commands only. */
  exec: AgentExecRules;
  /** Whether the call comes with a key that was made for a skill. */
  isSkill: boolean;
  toolCall: ToolCall;
  context: DecisionContext;
  /** Whether the agent or its session is paused. */
  paused: boolean;
}

/** What decides, beside the call itself, whether an ask may be put to a person. */
export interface AskStanding {
  /** Whether enough principals who could vote are there. */
  routable: boolean;
  /** Whether a person rejected the same action before, and that still holds. */
  deniedBefore: boolean;
}

/** What an approver wants to do to an approval, as Cedar's actions of the same names. */
export type ApproverAction = 'approve' | 'reject' | 'edit' | 'cancel' | 'widen';

/** A principal who decides. */
export interface Approver {
  principal: string;
  groups: readonly string[];
  roles: readonly Role[];
}

export interface ApproverRequest {
  action: ApproverAction;
  approver: Approver;
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

/** Clearing a pause: of an agent, or of one of its sessions. */
export interface ResumeRequest {
  approver: Approver;
  agent: { principal: string; owner: string | null };
  /** Null clears the pause of the agent itself. */
  sessionId: string | null;
}

export type ApproverDecision =
  | { kind: 'permitted' }
  | {
      kind: 'refused';
      code: 'self_approval_forbidden' | 'approver_not_eligible' | 'scope_not_allowed';
      reason: string;
    };

/** What one policy had to do with a decision. */
export interface Contribution {
  policyId: string;
  effect: 'permit' | 'forbid';
  /** Whether it is among those that decided; else its scope matched the call and its conditions did not. */
  applied: boolean;
  annotations: Record<string, string>;
}

/** A decision with its reasons, for people who write policies. */
export interface Explanation {
  decision: Decision;
  /** Every policy whose scope matches the call, in order of ids: those that applied first. */
  contributions: Contribution[];
  /** What Cedar was told of the call: groups, action groups and context. */
  facts: JsonObject;
}

export interface GroupDemand {
  policyId: string;
  groups: string[];
}

/**
 * A policy set, ready to decide. Pure calls: no I/O, no clock. All fail closed: whatever goes wrong inside (an
 * evaluation error, an unknown answer, a thrown error) is a deny or a refusal, never an exception.
 */
export interface PolicySet {
  /** SHA-256 of the canonical JSON of all policy texts by id, the schema and the registry's facts. */
  readonly revision: string;
  /** The asks that want a vote of a group, with the groups they want. */
  readonly groupDemands: readonly GroupDemand[];
  /** Whether a call is of a tool that runs commands: then `decide` wants to know what exec approvals say. */
  isCommand(toolCall: ToolCall): boolean;
  /** Decides a call. An ask is one of policy alone: `settleAsk` says whether it may be put to a person. */
  decide(request: DecisionRequest): Decision;
  /** Cedar's second word on an ask that no grant answers, under the action `ask`: the ask, or why it is a deny. */
  settleAsk(request: DecisionRequest, ask: AskDecision, standing: AskStanding): AskDecision | DenyDecision;
  judgeApprover(request: ApproverRequest): ApproverDecision;
  judgeResume(request: ResumeRequest): ApproverDecision;
  /** Decides and settles a call, and says which policies had what to do with it. */
  explain(request: DecisionRequest, standing: AskStanding): Explanation;
}
