import type { JsonObject } from './json.ts';

/**
 * A tool call as the agent sent it, frozen: exactly the five members that are hashed.
 * `resource` is null when the call names none.
 */
export interface ToolCall {
  tool: string;
  action: string;
  resource: string | null;
  mutates_state: boolean;
  parameters: JsonObject;
}

/** Where a call came from, best first: what stands later is trusted less. */
export const SOURCE_TRUSTS = [
  'trusted_internal',
  'trusted_external',
  'semi_trusted',
  'unknown',
  'untrusted',
] as const;
export type SourceTrust = (typeof SOURCE_TRUSTS)[number];

/** How much asks by tier, strictest first: all but what is known to be idempotent, what destroys, nothing. */
export const TIERS = ['ask', 'auto', 'full'] as const;
export type Tier = (typeof TIERS)[number];

/**
 * The circumstances a decision was made under, as used (after the key's limits were applied) and as stored with
 * the decision and the approval. Not part of the hash. Members keep their wire names: the row is what is shown.
 */
export interface DecisionContext {
  source_trust: SourceTrust;
  contains_sensitive_data: boolean;
  workspace: string | null;
  environment: string | null;
  session_id: string | null;
  run_id: string | null;
  parent_run_id: string | null;
  unattended: boolean;
  /** What request, session, tenant and parent run resolved to. */
  tier: Tier;
  /** The root that the key's paths are judged against; null leaves it to the registry. */
  workspace_root: string | null;
  justification: string | null;
  /** The server's time that policy was told, RFC 3339 with milliseconds. */
  now: string;
}
