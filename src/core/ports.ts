import type { DecisionContext } from './action.ts';
import type { Approval } from './approval.ts';
import type { Caller, KeyLimits, Role } from './caller.ts';
import type { ExecGround } from './exec_ports.ts';
import type { FaultCode } from './fault.ts';
import type { AskTerms, Decision, Denial } from './policy.ts';
import type { Review } from './review.ts';
import type { NewRevision } from './rules_ports.ts';

// What the operations need of the outside. Ids are UUIDs without their prefix. Unless said, a store that cannot
// answer (down, silent, lock not had within 2 s) makes every method throw Fault `unavailable`, and nothing has
// changed, unless it was the answer to the very commit that was lost.

/** Makes UUIDv7 values (RFC 9562 §5.7): time-ordered, so newest first is an index scan. */
export type NewUuid = () => string;

/** A key as listed: all but its secret. */
export interface KeyRecord {
  keyId: string;
  principal: string;
  roles: Role[];
  groups: string[];
  owner: string | null;
  limits: KeyLimits;
  createdBy: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  revokeReason: string | null;
}

export interface NewKey {
  tenantId: string;
  keyId: string;
  /** SHA-256 of the whole bearer token, in hex; the token itself is stored nowhere. */
  tokenHash: string;
  principal: string;
  roles: Role[];
  /** Added to the principal's groups. */
  groups: string[];
  /** Becomes the principal's owner; null leaves the owner it has. */
  owner: string | null;
  /** Becomes the owner of a principal that has none. */
  defaultOwner: string | null;
  limits: KeyLimits;
  createdBy: string | null;
  expiresAt: Date | null;
  origin: 'api' | 'command' | 'first_start' | 'bootstrap' | 'oidc' | 'slack';
}

export interface KeyStore {
  /** The caller behind a token, read from the database at each call; undefined unless the key stands now. */
  findCaller(tokenHash: string): Promise<Caller | undefined>;
  /** @throws Fault `unauthenticated`, `agent_frozen` unless the key stands now. */
  assertStands(keyId: string): Promise<void>;
  /** @throws Fault `unauthenticated` when the maker's key no longer stands at the write. */
  createKey(key: NewKey, makerKeyId: string | null): Promise<KeyRecord>;
  listKeys(tenantId: string): Promise<KeyRecord[]>;
  /**
   * Revokes a key, drops or voids what rested on it, in one transaction. A key revoked before stays revoked.
   * `rotated` keeps the votes it cast.
   * @throws Fault `not_found`; `last_operator_key` when it is the tenant's last standing operator key.
   */
  revokeKey(tenantId: string, keyId: string, reason: string | null, revokerKeyId: string): Promise<void>;
}

export interface TenantStore {
  /**
   * Makes a tenant with its first revision, which is the base rules alone, and its first operator key. `moved`, and
   * nothing has changed, when other base rules are in force by now.
   * @throws Fault `tenant_exists`; `unauthenticated` when the maker's key no longer stands.
   */
  createTenant(first: NewRevision, operatorKey: NewKey, makerKeyId: string): Promise<'created' | 'moved'>;
  /** The revision that decides for a tenant now. */
  readActiveRevision(tenantId: string): Promise<string>;
}

export interface DecisionRecord {
  tenantId: string;
  decisionId: string;
  agent: string;
  keyId: string;
  decision: Decision;
  denial: Denial | null;
  canonicalAction: string;
  actionHash: string;
  context: DecisionContext;
  /** The grant that answers the ask, one use of which this decision is. */
  grantId: string | null;
  /** What the decision rests on and uses of exec approvals; null for what is no command. */
  exec: ExecGround | null;
}

export interface AskRecord {
  approvalId: string;
  owner: string | null;
  terms: AskTerms;
  ttlSeconds: number;
  pendingLimit: number;
  askLimitPerHour: number;
  /** What a rejection of this action is entered under, and how long one holds beyond its session. */
  denialDigest: string;
  denialSeconds: number;
  /** What approvers are shown. */
  review: Review;
  /** The connection that waits for the answer, for an ask that ends with it. */
  askerConnection: string | null;
  /** What policy was told of people: the ask is written while that is still so. */
  decidedWith: { paused: boolean; deniedBefore: boolean };
}

/** Why a decision was not recorded: what it rests on has changed since it was made. Decide again. */
export type DecisionMoved =
  | { kind: 'revision_moved' | 'denied' | 'grant_spent' | 'exec_moved' }
  | { kind: 'paused'; paused: boolean };

export interface DecisionStore {
  /**
   * Makes a decision durable, on condition that the asking key stands and `decision.policyRevision` is the
   * tenant's active one, else `revision_moved`: evaluate again.
   * @throws Fault `unauthenticated`, `agent_frozen`.
   */
  recordDecision(record: DecisionRecord): Promise<'recorded' | 'revision_moved'>;
  /**
   * The same for an ask, a decision that uses a grant, and one with an idempotency key: decision, approval, the
   * grant's use and the kept answer in one transaction. An ask is written only while what policy was told
   * of pauses and rejections is still so; a use only while the grant stands and has uses left. `answer` gets
   * the approval as written.
   * @throws Fault `throttled`, `too_many_pending` as well; `idempotency_in_flight` when the claim was lost.
   */
  recordDecisionWith(
    record: DecisionRecord,
    ask: AskRecord | null,
    keep: { claim: IdempotencyClaim; answer: (approval: Approval | null) => string } | null,
  ): Promise<{ kind: 'recorded'; approval: Approval | null } | DecisionMoved>;
}

export interface IdempotencyClaim {
  tenantId: string;
  principal: string;
  route: string;
  key: string;
  /** Digest of the canonical body. */
  fingerprint: string;
  /** Digest of what else the answer rests on: revision, context as used, the agent's standing. */
  standing: string;
  /** The revision loaded here: the claim, and the replay of an answer, hold only while it is the active one. */
  policyRevision: string;
  leaseId: string;
}

export interface IdempotencyStore {
  /**
   * Claims the key for 60 seconds, in one statement, or says what stands in the way: an answer to replay, another
   * request in flight, another body under the same key, another active revision.
   */
  claim(
    claim: IdempotencyClaim,
  ): Promise<
    | { kind: 'claimed' }
    | { kind: 'replay'; answer: string }
    | { kind: 'in_flight' | 'reused' | 'revision_moved' }
  >;
  /** Keeps an answer that no decision row goes with (a dry run). */
  keep(claim: IdempotencyClaim, answer: string): Promise<void>;
  /** Gives a claim up after a failure, so that a retry need not wait for its lease. */
  release(claim: IdempotencyClaim): Promise<void>;
}

/** Failure counters shared by all replicas; a store that cannot answer is Fault `unavailable`. */
export interface Throttle {
  /** @throws Fault `throttled` when the counter is at its limit. */
  assertAttemptsLeft(attemptKey: string): Promise<void>;
  /** Counts a failed attempt. @throws Fault `throttled` when this one was over the limit. */
  countFailedAttempt(attemptKey: string): Promise<void>;
  /** Counts a request without a valid credential. @throws Fault `throttled` when the address is over its limit. */
  countAddressFailure(address: string): Promise<void>;
}

/** Hears of changes to its subjects from the moment it was made. */
export interface Subscription {
  /**
   * Resolves when a subject may have changed since the last call, at `until`, or when `signal` aborts, whichever
   * is first; never rejects. A wake-up only means: read again.
   */
  next(until: Date, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Wakes who waits on an approval or holds a key, across processes. Subjects are UUIDs, `RULES_SUBJECT`, `approvalsSubject`, hashes of console sessions. */
export interface Signals {
  /** Subscribe first, then read: a change between the two is then heard. */
  subscribe(subjects: readonly string[]): Subscription;
}

/** What the service counts of itself. */
export interface Metrics {
  countDecision(decision: Decision['decision'], dryRun: boolean): void;
  countHashMismatch(): void;
  countConsumeRefused(code: FaultCode): void;
  /** A vote that was cast, with the seconds since its approver was first shown the approval, where that is known. */
  countVote(decision: 'approve' | 'reject', secondsSinceShown: number | null): void;
  /** An approval that people decided, with the seconds since it was asked for. */
  countDecided(outcome: 'approved' | 'rejected', secondsSinceAsked: number): void;
  /** An approval whose time passed, and whether any approver had been shown it. */
  countExpired(wasSeen: boolean): void;
}
