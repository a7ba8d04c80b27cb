import type { Decision, DecisionRequest, PolicySet } from './policy.ts';
import type { BaseRules, PolicyTexts, Rules, RulesProblem } from './rules.ts';

/** What is signalled when a tenant's active revision has changed; beside the UUIDs that other signals name. */
export const RULES_SUBJECT = 'rules';

// What the operations need to keep, compile and look up rules. Errors are those of `ports.ts`.

/** The policy sets of this process, each compiled when it is first wanted and shared by all who want it. */
export interface PolicySource {
  /**
   * The set of a tenant's revision.
   * @throws Fault `unavailable` when it is not stored, cannot be read, or does not compile here.
   */
  load(tenantId: string, revision: string): Promise<PolicySet>;
  /** The set of a revision if it is ready now. */
  find(revision: string): PolicySet | undefined;
  /** Keeps a set that was compiled already, for instance by who is about to activate it. */
  keep(set: PolicySet): void;
}

export type Refused = { kind: 'refused'; problems: RulesProblem[] };

/** A decision that was made, to be made again under other rules. */
export interface PastCall {
  kind: 'decision' | 'approval';
  /** UUID without its prefix. */
  id: string;
  request: DecisionRequest;
  decided: Decision['decision'];
}

export interface Flip {
  kind: 'decision' | 'approval';
  id: string;
  from: Decision['decision'];
  to: Decision['decision'];
  determiningPolicies: string[];
}

/** Checks and compiles rules, off the thread that serves. */
export interface PolicyCompiler {
  /** Reads the policy folder. Problems name file and line. */
  readFolder(directory: string): Promise<{ kind: 'read'; base: BaseRules } | Refused>;
  /** Splits a text into its policies by `@id`. Problems name line and column. */
  splitText(text: string): Promise<{ kind: 'split'; policies: PolicyTexts } | Refused>;
  compile(rules: Rules): Promise<{ kind: 'compiled'; set: PolicySet } | Refused>;
  /** What the rules would decide of calls that were decided before; those that stay as they are not told. */
  simulate(rules: Rules, calls: PastCall[]): Promise<{ kind: 'simulated'; flips: Flip[] } | Refused>;
  /**
   * Does a tenant's work with this compiler, once what was asked for the tenant before is done: whoever asks for much
   * waits for themselves.
   * @throws Fault `throttled` when too much of the tenant's waits already; what the work throws.
   */
  inTurn<Answer>(tenantId: string, work: () => Promise<Answer>): Promise<Answer>;
  close(): Promise<void>;
}

/** A tenant's rules in force. */
export interface ActiveRules {
  revision: string;
  /** Digest of the base rules in it. */
  baseDigest: string;
  rules: Rules;
  activatedAt: Date;
  /** The principal; null for the policy folder. */
  activatedBy: string | null;
}

/** A revision in a tenant's history. */
export interface RevisionRecord {
  revision: string;
  note: string | null;
  createdBy: string | null;
  createdAt: Date;
  /** When it was last activated, and by whom; null if it never was. */
  activatedAt: Date | null;
  activatedBy: string | null;
  isActive: boolean;
}

/** Who changes rules: an operator, by their key, or the policy folder, by neither. */
export interface Activator {
  principal: string | null;
  keyId: string | null;
}

/** Rules with the revision they compiled to. */
export interface NewRevision {
  tenantId: string;
  revision: string;
  /** Digest of `rules.base`, which is stored already. */
  baseDigest: string;
  rules: Rules;
  note: string | null;
}

/** When a revision became the active one, and by whom; null for the policy folder. */
export interface ActivatedRevision {
  activatedAt: Date;
  activatedBy: string | null;
}

/** Base rules, with the digest of their canonical form. */
export interface StoredBase {
  digest: string;
  rules: BaseRules;
}

/** Which revision decides for a tenant, and which base rules it should have, as of one moment. */
export interface TenantPointer {
  tenantId: string;
  activeRevision: string;
  /** Digest of the base rules in it; null when the revision is not stored. */
  baseDigest: string | null;
  /** Digest of the base rules in force; null before the first start. */
  baseInForce: string | null;
}

/** What an activation rests on: it happens only while this still is so. */
export interface SeenRules {
  /** The tenant's active revision. */
  revision: string;
  /** Digest of the base rules in force. */
  baseInForce: string;
}

export interface RevisionStore {
  /** @throws Fault `unavailable` when the active revision is not stored, as before the first start of this version. */
  readActive(tenantId: string): Promise<ActiveRules>;
  /** The rules of a revision of the tenant, or undefined. */
  findRules(tenantId: string, revision: string): Promise<Rules | undefined>;
  list(tenantId: string): Promise<RevisionRecord[]>;
  /**
   * Stores a revision and makes it the tenant's active one, in one transaction, if all is still as seen; an event in
   * its history. The one that is active already stays so without an event. `moved` when another revision or base was
   * activated meanwhile, and nothing has changed. All processes hear of it.
   * @throws Fault `unauthenticated` when the activator's key no longer stands.
   */
  activate(next: NewRevision, seen: SeenRules, by: Activator): Promise<ActivatedRevision | 'moved'>;
  /** Decisions of the tenant since a time, newest first, and its pending and approved approvals, as past calls. */
  readPastCalls(tenantId: string, since: Date, limit: number): Promise<PastCall[]>;
  /** The base rules that new tenants start from, with their digest; undefined before the first start. */
  findBase(): Promise<StoredBase | undefined>;
  /** Whether base rules of this digest were in force at any time. */
  wasBase(digest: string): Promise<boolean>;
  /** Stores base rules and puts them in force. Every activation that saw others was before this, or does not happen. */
  setBase(digest: string, rules: BaseRules): Promise<void>;
  listTenants(): Promise<TenantPointer[]>;
}
