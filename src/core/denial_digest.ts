import { canonicalize } from './canonical_json.ts';
import { type Sha256Hex, sha256Hex } from './digest.ts';
import type { JsonObject } from './json.ts';

/** What a rejection is remembered by: the action as it works, whatever names the call used for it. */
export interface DeniedAction {
  tenantId: string;
  agent: string;
  /** Resolved names, as the registry and policy know them. */
  tool: string;
  action: string;
  resource: string | null;
  parameters: JsonObject;
}

/**
 * The key of the denial ledger: SHA-256 of the canonical JSON (RFC 8785) of the members above. Neither what the call
 * says of `mutates_state` nor its session is part of it: a rejected action stays the same one under both.
 */
export function computeDenialDigest(denied: DeniedAction): Sha256Hex {
  const { tenantId, agent, tool, action, resource, parameters } = denied;
  return sha256Hex(canonicalize({ tenant: tenantId, agent, tool, action, resource, parameters }));
}
