import { type DecisionContext, SOURCE_TRUSTS, type SourceTrust } from './action.ts';
import type { KeyLimits } from './caller.ts';
import { Fault } from './fault.ts';

/** What a call says of its circumstances; each member may be absent. */
export type ContextClaims = { [Member in keyof DecisionContext]?: DecisionContext[Member] | undefined };

/** The less trusted of two origins. */
export function leastTrusted(one: SourceTrust, other: SourceTrust): SourceTrust {
  return SOURCE_TRUSTS[Math.max(SOURCE_TRUSTS.indexOf(one), SOURCE_TRUSTS.indexOf(other))] ?? 'untrusted';
}

/** The place a call acts in: its claim if the key's list has it, else the list's only member. */
function limitPlace(
  name: 'workspace' | 'environment',
  claimed: string | null,
  allowed: string[] | null,
): string | null {
  if (allowed === null) return claimed;
  const [only] = allowed;
  if (claimed === null && allowed.length === 1 && only !== undefined) return only;
  if (claimed !== null && allowed.includes(claimed)) return claimed;
  const problem = claimed === null ? `the call names no \`${name}\`` : `the call names another \`${name}\``;
  throw new Fault(
    'forbidden',
    `this key acts in certain ${name}s only, and ${problem}. Send \`context.${name}\` with one of the key's`,
  );
}

/**
 * The circumstances as used in the decision. A claim can tighten from its key's limits and never pass them: the
 * origin is the less trusted of claim and ceiling, an unattended key makes every call unattended.
 * @throws Fault `forbidden` when the workspace or environment is outside the key's list.
 */
export function limitContext(claims: ContextClaims, limits: KeyLimits): DecisionContext {
  return {
    source_trust: leastTrusted(claims.source_trust ?? 'unknown', limits.sourceTrustCeiling),
    contains_sensitive_data: claims.contains_sensitive_data ?? false,
    workspace: limitPlace('workspace', claims.workspace ?? null, limits.workspaces),
    environment: limitPlace('environment', claims.environment ?? null, limits.environments),
    session_id: claims.session_id ?? null,
    run_id: claims.run_id ?? null,
    parent_run_id: claims.parent_run_id ?? null,
    unattended: limits.unattended || (claims.unattended ?? false),
    tier: claims.tier ?? null,
    justification: claims.justification ?? null,
  };
}
