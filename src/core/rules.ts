import type { JsonObject } from './json.ts';
import type { Permission } from './policy.ts';

/** Policy texts by `@id`, one policy each. */
export type PolicyTexts = Record<string, string>;

/** An explicit permission by name: `tool.action` in normal form, or a glob of it, in which `*` stands for any text. */
export interface ToolPermission {
  pattern: string;
  permission: Permission;
}

/**
 * What every tenant starts from: the policies and tools of the policy folder. Tools are objects with `tool`, `action`
 * and the members of a registration.
 */
export interface BaseRules {
  policies: PolicyTexts;
  tools: JsonObject[];
}

/** Everything a tenant's decisions are made from; a revision is the digest of what this compiles to. */
export interface Rules {
  base: BaseRules;
  /** The tenant's own; an id of the base is taken. */
  policies: PolicyTexts;
  /** The tenant's own; one that the base has can only be tightened. */
  tools: JsonObject[];
  permissions: ToolPermission[];
}

/** The rules of a tenant that has none beside the base. */
export const NOTHING_OF_ITS_OWN: Readonly<Omit<Rules, 'base'>> = { policies: {}, tools: [], permissions: [] };

/** One thing that is wrong with rules, where it stands, and what would mend it. */
export interface RulesProblem {
  /** The policy at fault, null when the fault is a tool's or the id is what is missing. */
  policyId: string | null;
  /** File the fault stands in, as named to the loader; null when the rules did not come from files. */
  source: string | null;
  /** Counted from 1; null when not known. */
  line: number | null;
  column: number | null;
  /** Place in a registration as a JSON Pointer (RFC 6901); null for policies. */
  pointer: string | null;
  message: string;
  /** The remedy, as a sentence. */
  help: string | null;
}
