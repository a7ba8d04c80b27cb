import { type DecisionContext, SOURCE_TRUSTS, type SourceTrust, TIERS, type Tier } from './action.ts';
import type { CallStanding } from './agent_ports.ts';
import type { KeyLimits } from './caller.ts';
import { Fault } from './fault.ts';

type Claimed = Omit<DecisionContext, 'tier' | 'workspace_root' | 'now'> & { tier: Tier | null };

/** What a call says of its circumstances; each member may be absent. */
export type ContextClaims = { [Member in keyof Claimed]?: Claimed[Member] | undefined };

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

/** The stricter of two tiers. */
export function strictestTier(one: Tier, other: Tier): Tier {
  return TIERS[Math.min(TIERS.indexOf(one), TIERS.indexOf(other))] ?? 'ask';
}

/** What a key and the tenant's settings leave open to a call. */
export interface ContextLimits {
  key: KeyLimits;
  tenantTier: Tier;
  standing: Pick<CallStanding, 'sessionTier' | 'parentRun' | 'ownRun'>;
  now: Date;
}

/**
 * The circumstances as used in the decision. A claim can tighten from its limits and never pass them: the origin is
 * the less trusted of claim and ceiling, an unattended key makes every call unattended, the tier is the stricter of
 * the call's and its session's or else its tenant's.
 * @throws Fault `forbidden` when the workspace or environment is outside the key's list.
 */
export function limitContext(claims: ContextClaims, limits: ContextLimits): DecisionContext {
  const { key, standing } = limits;
  const tier = standing.sessionTier ?? limits.tenantTier;
  const context: DecisionContext = {
    source_trust: leastTrusted(claims.source_trust ?? 'unknown', key.sourceTrustCeiling),
    contains_sensitive_data: claims.contains_sensitive_data ?? false,
    workspace: limitPlace('workspace', claims.workspace ?? null, key.workspaces),
    environment: limitPlace('environment', claims.environment ?? null, key.environments),
    session_id: claims.session_id ?? null,
    run_id: claims.run_id ?? null,
    parent_run_id: claims.parent_run_id ?? null,
    unattended: key.unattended || (claims.unattended ?? false),
    tier: strictestTier(claims.tier ?? tier, tier),
    workspace_root: key.workspaceRoot,
    justification: claims.justification ?? null,
    now: limits.now.toISOString(),
  };
  const continued = standing.ownRun === null ? context : inherit(context, standing.ownRun);
  return context.parent_run_id === null ? continued : inherit(continued, standing.parentRun);
}

/**
 * A run that goes on for another is never weaker than that one was, in any of its calls; a parent that nothing is known of is taken for
 * unattended and of unknown origin.
 */
function inherit(context: DecisionContext, parent: CallStanding['parentRun']): DecisionContext {
  if (parent === null) {
    return { ...context, unattended: true, source_trust: leastTrusted(context.source_trust, 'unknown') };
  }
  return {
    ...context,
    source_trust: leastTrusted(context.source_trust, parent.sourceTrust),
    contains_sensitive_data: context.contains_sensitive_data || parent.containsSensitiveData,
    unattended: context.unattended || parent.unattended,
    tier: strictestTier(context.tier, parent.tier),
  };
}
