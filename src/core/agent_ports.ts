import type { SourceTrust, Tier } from './action.ts';
import type { Vote } from './approval.ts';
import type { Approver, Scope } from './policy.ts';

// What the operations need to know and keep of agents, their sessions, and the people who decide. Errors are those
// of `ports.ts`.

/** A principal as an operator sets it; members not set are null. */
export interface PrincipalSettings {
  groups: string[];
  owner: string | null;
  riskTier: string | null;
  slackUser: string | null;
  oidcSubject: string | null;
  disabled: boolean;
}

/** What is set of a principal: without a word on its owner it keeps the one it has, and with it who may not approve. */
export interface PrincipalInput extends Omit<PrincipalSettings, 'owner'> {
  owner: string | null | undefined;
}

/** Who writes: the key must stand at the write. */
export interface Writer {
  tenantId: string;
  principal: string;
  keyId: string;
}

export interface PrincipalStore {
  find(tenantId: string, principal: string): Promise<PrincipalSettings | undefined>;
  /**
   * Makes or replaces a principal. Disabling takes all its keys' standing away, enabling gives it back.
   * @throws Fault `last_operator_key` when it would leave the tenant without a standing operator key;
   *   `invalid_request` for a Slack user or OIDC subject that is another principal's.
   */
  put(writer: Writer, principal: string, settings: PrincipalInput): Promise<PrincipalSettings>;
  /**
   * From its commit no key of the agent stands, on every replica; its open approvals are voided, its grants revoked.
   * @throws Fault `not_found`; `last_operator_key` when it would leave the tenant without a standing operator key.
   */
  freeze(writer: Writer, agent: string): Promise<void>;
  /** @throws Fault `not_found`. */
  unfreeze(writer: Writer, agent: string): Promise<void>;
  /** The tier of the tenant. */
  readTier(tenantId: string): Promise<Tier>;
  putTier(writer: Writer, tier: Tier): Promise<void>;
  /** Enabled principals who could vote now: a standing approver key, a Slack user or an OIDC subject. */
  listApprovers(tenantId: string): Promise<Approver[]>;
  /** Groups that at least one enabled principal of the tenant is in. */
  listGroups(tenantId: string): Promise<string[]>;
}

export interface SessionRecord {
  agent: string;
  sessionId: string;
  /** The session's own; null follows the tenant's. */
  tier: Tier | null;
  /** Rejections since the last resume. */
  rejections: number;
  pausedAt: Date | null;
}

/** What is paused now: until somebody resumes it, every ask of it is denied. */
export interface Pauses {
  agents: { agent: string; pausedAt: Date }[];
  sessions: (SessionRecord & { pausedAt: Date })[];
}

/** What stands behind a call before policy is asked. */
export interface CallStanding {
  sessionTier: Tier | null;
  sessionPaused: boolean;
  /** What the runs of this id carried, the strictest of each; null when no such run is known. */
  parentRun: RunStanding | null;
  /** What this call's own run carried, if it ever named a parent; null else. */
  ownRun: RunStanding | null;
}

/** The least favourable circumstances that any call of a run had. */
export interface RunStanding {
  sourceTrust: SourceTrust;
  containsSensitiveData: boolean;
  unattended: boolean;
  tier: Tier;
}

export interface SessionStore {
  /** One read for calls that name a session, a run or a parent run. */
  readStanding(
    tenantId: string,
    agent: string,
    sessionId: string | null,
    run: { runId: string | null; parentRunId: string | null },
  ): Promise<CallStanding>;
  /** A session that nothing is stored of reads as one without tier, rejections and pause. @throws Fault `not_found` for an agent that is no principal. */
  get(tenantId: string, agent: string, sessionId: string): Promise<SessionRecord>;
  putTier(writer: Writer, agent: string, sessionId: string, tier: Tier | null): Promise<SessionRecord>;
  /** Lifts the pause of a session and counts anew; single denials stay. */
  resumeSession(writer: Writer, agent: string, sessionId: string): Promise<SessionRecord>;
  /** The same for the agent itself. */
  resumeAgent(writer: Writer, agent: string): Promise<void>;
  /** The tenant's pauses, those that have held for longest first. */
  listPaused(tenantId: string): Promise<Pauses>;
  /** Whether all of the agent's asks are denied until somebody resumes it. */
  isAgentPaused(tenantId: string, agent: string): Promise<boolean>;
  /** The agent's owner. @throws Fault `not_found` for an agent that is no principal. */
  readOwner(tenantId: string, agent: string): Promise<string | null>;
}

/** One rejection in the ledger. */
export interface DenialRecord {
  denialId: string;
  agent: string;
  sessionId: string | null;
  resolved: { tool: string; action: string };
  actionHash: string;
  approvalId: string;
  deniedBy: string;
  /** The person's own words. */
  reason: string | null;
  createdAt: Date;
}

/** A page of the ledger. */
export interface DenialQuery {
  agent: string | null;
  denialSeconds: number;
  limit: number;
  /** Denial id of the last item of the page before. */
  before: string | null;
}

export interface DenialStore {
  /**
   * The newest rejection of an action that still holds: in this session for ever, in any session of the agent for
   * `denialSeconds`. `digest` is `computeDenialDigest`'s.
   */
  find(
    tenantId: string,
    agent: string,
    digest: string,
    sessionId: string | null,
    denialSeconds: number,
  ): Promise<DenialRecord | undefined>;
  /** Rejections that hold, newest first. */
  list(tenantId: string, query: DenialQuery): Promise<{ items: DenialRecord[]; next: string | null }>;
  /** @throws Fault `not_found`. */
  lift(writer: Writer, denialId: string): Promise<void>;
}

/** A yes that holds for more than one run of the same action. */
export interface Grant {
  grantId: string;
  agent: string;
  sessionId: string | null;
  runId: string | null;
  workspace: string | null;
  environment: string | null;
  actionHash: string;
  scope: Exclude<Scope, 'once'>;
  maxUses: number | null;
  uses: number;
  createdAt: Date;
  /** By the database's clock. */
  ageSeconds: number;
  expiresAt: Date;
  policyRevision: string;
  toolFactsHash: string;
  sourceTrust: SourceTrust;
  containsSensitiveData: boolean;
  grantedBy: string;
  approvalId: string;
  owner: string | null;
  editors: string[];
  resolved: { tool: string; action: string };
  /** Votes of the approval that still count. */
  votes: Vote[];
}

/** What a grant is looked up by. */
export interface GrantQuery {
  tenantId: string;
  agent: string;
  workspace: string | null;
  environment: string | null;
  sessionId: string | null;
  runId: string | null;
  actionHash: string;
}

export interface GrantStore {
  /** Grants that could answer: of this fingerprint, not revoked, in time, with uses left; oldest first. */
  findAnswering(query: GrantQuery): Promise<Grant[]>;
  /** Ends a grant that does not hold under the rules that decide now (NO SILENT DRIFT). */
  voidDrifted(tenantId: string, grantId: string, activeRevision: string): Promise<void>;
  /** The same of every grant of a call that these rules deny. */
  voidDenied(query: GrantQuery, activeRevision: string): Promise<void>;
  /** Grants in force, used up or not, newest first. */
  list(tenantId: string, agent: string | null): Promise<Grant[]>;
  /** @throws Fault `not_found`. */
  revoke(writer: Writer, grantId: string): Promise<void>;
}
