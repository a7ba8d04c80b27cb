import { canonicalize } from '../../core/canonical_json.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { JsonObject } from '../../core/json.ts';
import type { BaseRules } from '../../core/rules.ts';

/**
 * What base rules are known by: SHA-256 of their canonical JSON (RFC 8785). The order in which tools were read, which
 * is that of their files, is no part of it.
 */
export function computeBaseDigest({ policies, tools }: BaseRules): string {
  const keyed = tools.map((tool): [string, JsonObject] => [canonicalize(tool), tool]);
  const sorted = keyed.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, tool]) => tool);
  const value: JsonObject = { policies, tools: sorted };
  return sha256Hex(canonicalize(value));
}
