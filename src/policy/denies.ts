import { createDenial } from '../core/denial.ts';
import type { Decision, Denial, DenyDecision } from '../core/policy.ts';
import { DENIED_BY, type PolicyFacts } from './annotations.ts';
import type { CedarAnswer } from './cedar.ts';
import type { Operation } from './operation.ts';
import type { Slice } from './slices.ts';

/** What every decision on a call says, whatever it is. */
export type Common = Pick<
  Decision,
  'policyRevision' | 'resolved' | 'toolFactsHash' | 'secretParameters' | 'reviewFacts'
>;

export const EVALUATION_FAILED =
  'the policies could not be evaluated for this call, so it is denied. An operator finds out why by testing the policy set';

/** A deny that no policy stands behind, or those named. */
export function deny(common: Common, reason: string, determiningPolicies: string[] = []): DenyDecision {
  return { ...common, decision: 'deny', reason, determiningPolicies, denial: null };
}

/** A deny by policies that apply; where several say what they deny by, the first of `DENIED_BY` is told. */
export function denyByForbids(common: Common, forbids: readonly PolicyFacts[]): DenyDecision {
  const reason = describePolicies(forbids);
  const denied = deny(common, reason, idsOf(forbids));
  const by: Denial['by'] | undefined = DENIED_BY.find((one) =>
    forbids.some(({ deniedBy }) => deniedBy === one),
  );
  return by === undefined ? denied : { ...denied, denial: createDenial(by, reason) };
}

/** FAIL CLOSED: Cedar skips a policy that it cannot evaluate, so nothing else of its answer may stand. */
export function denyUnevaluated(
  common: Common,
  slice: Slice,
  answer: Exclude<CedarAnswer, { kind: 'answered' }>,
): DenyDecision {
  if (answer.kind === 'failed') {
    return deny(common, EVALUATION_FAILED);
  }
  const errored = answer.errors.map((id) => `\`${id}\``).join(', ');
  const reason = `policy ${errored} could not be evaluated for this call, so it is denied. An operator has to correct it`;
  const forbids = factsOfAll(slice, answer.reason).filter((policy) => policy.effect === 'forbid');
  return deny(common, reason, idsOf(forbids));
}

/** The reason when no policy applies: what an operator could add. */
export function describeDefaultDeny({ tool, action, actionId }: Operation, isRegistered: boolean): string {
  const named = `\`${tool}\`/\`${action}\``;
  return isRegistered
    ? `no policy permits ${named} for this call. Add a permit for Aegis::Action::"${actionId}" to the policies`
    : `${named} is not registered. Register it with \`PUT /v1/tools/:tool/:action\` or in policies/tools, and permit it in a policy`;
}

/** The policies' own words, in order of their ids. */
export function describePolicies(policies: readonly PolicyFacts[]): string {
  return [...new Set(policies.map((policy) => policy.reason ?? `policy \`${policy.id}\` applies`))].join(
    '; ',
  );
}

/** Every id Cedar names is one of the slice; another would be a fault of this service, and a deny. */
export function factsOfAll(slice: Slice, ids: readonly string[]): PolicyFacts[] {
  return ids.map((id) => {
    const facts = slice.parts.find(({ policies }) => policies.has(id))?.policies.get(id);
    if (facts === undefined) throw new Error('cedar named a policy that is not in the slice');
    return facts;
  });
}

function idsOf(policies: readonly PolicyFacts[]): string[] {
  return policies.map((policy) => policy.id);
}
