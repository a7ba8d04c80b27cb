import { type DecisionContext, SOURCE_TRUSTS } from './action.ts';
import type { GrantQuery } from './agent_ports.ts';
import type { Vote } from './approval.ts';
import { canonicalize } from './canonical_json.ts';
import { type Sha256Hex, sha256Hex } from './digest.ts';
import { SCOPES, type Scope, VOTE_SCOPES, type VoteScope } from './policy.ts';

/** How long a `run` or `session` grant holds at the most. */
export const GRANT_LIFE_SECONDS = 12 * 60 * 60;

/** How far and how long a yes holds. */
export interface GrantTerms {
  scope: Exclude<Scope, 'once'>;
  /** How long it holds from the moment it is given. */
  seconds: number;
  /** Null for `run` and `session`. */
  maxUses: number | null;
}

/**
 * Whether one scope goes no further than another. An entry of an allowlist outlasts what asked for it, as `always`
 * does, which is a `session`: policy that allows less allows no entry.
 */
export function isWithinScope(scope: VoteScope, widest: Scope): boolean {
  const reach = scope === 'allowlist' ? 'session' : scope;
  return SCOPES.indexOf(reach) <= SCOPES.indexOf(widest);
}

/** The narrowest of what votes say; undefined without votes. An allowlist is wider than every other scope. */
export function narrowestScope(votes: readonly { scope: VoteScope }[]): VoteScope | undefined {
  return VOTE_SCOPES[Math.min(...votes.map((vote) => VOTE_SCOPES.indexOf(vote.scope)))];
}

/** What votes grant together: the narrowest of their scopes, of several windows the shortest and fewest uses. */
export function collectGrantTerms(
  votes: readonly Pick<Vote, 'scope' | 'windowSeconds' | 'maxUses'>[],
): GrantTerms | undefined {
  const scope = narrowestScope(votes);
  if (scope === undefined || scope === 'once' || scope === 'allowlist') return undefined;
  if (scope !== 'window') return { scope, seconds: GRANT_LIFE_SECONDS, maxUses: null };
  return {
    scope,
    seconds: Math.min(...votes.map((vote) => vote.windowSeconds ?? Number.POSITIVE_INFINITY)),
    maxUses: Math.min(...votes.map((vote) => vote.maxUses ?? Number.POSITIVE_INFINITY)),
  };
}

/** The scopes that an approver of this approval may pick. */
export function offeredScopes(
  maxScope: Scope,
  context: { session_id: string | null; run_id: string | null },
): Scope[] {
  return SCOPES.filter(
    (scope) =>
      isWithinScope(scope, maxScope) &&
      (scope !== 'session' || context.session_id !== null) &&
      (scope !== 'run' || context.run_id !== null),
  );
}

/** What a grant for an action in its circumstances is looked up by. */
export function toGrantQuery(
  asker: { tenantId: string; agent: string },
  context: Pick<DecisionContext, 'workspace' | 'environment' | 'session_id' | 'run_id'>,
  actionHash: string,
): GrantQuery {
  return {
    tenantId: asker.tenantId,
    agent: asker.agent,
    workspace: context.workspace,
    environment: context.environment,
    sessionId: context.session_id,
    runId: context.run_id,
    actionHash,
  };
}

/**
 * What a grant is keyed on: exactly these, over the hash of the raw canonical action. A `run` grant holds for its
 * run, a `session` grant for its session, a `window` grant for whichever session it was given in.
 */
export function computeGrantFingerprint(query: GrantQuery, scope: Exclude<Scope, 'once'>): Sha256Hex {
  return sha256Hex(
    canonicalize({
      tenant: query.tenantId,
      agent: query.agent,
      workspace: query.workspace,
      environment: query.environment,
      scope,
      place: scope === 'run' ? query.runId : query.sessionId,
      action_hash: query.actionHash,
    }),
  );
}

/** Whether circumstances are no worse than those a grant was given under. */
export function isNoWorse(
  now: { source_trust: (typeof SOURCE_TRUSTS)[number]; contains_sensitive_data: boolean },
  then: { sourceTrust: (typeof SOURCE_TRUSTS)[number]; containsSensitiveData: boolean },
): boolean {
  const isTrusted = SOURCE_TRUSTS.indexOf(now.source_trust) <= SOURCE_TRUSTS.indexOf(then.sourceTrust);
  return isTrusted && (then.containsSensitiveData || !now.contains_sensitive_data);
}
