import type { Decision, DecisionRequest } from '../core/policy.ts';
import { type PolicyFacts, VOTES_MAX } from './annotations.ts';
import { collectAskTerms } from './ask_terms.ts';
import { buildAgentCall } from './call_facts.ts';
import { type CedarAnswer, type CedarCall, type CedarValueJson, evaluate } from './cedar.ts';
import { createDenial } from './denials.ts';
import { ASK_ACTION } from './model.ts';
import type { Operation } from './operation.ts';
import { describeParameterProblem, judgeParameters } from './parameters.ts';
import type { Registry } from './registry.ts';
import type { Slice } from './slices.ts';

/** A set that is loaded: what decisions are made from. */
export interface LoadedSet {
  revision: string;
  registry: Registry;
  policies: ReadonlyMap<string, PolicyFacts>;
  slices: ReadonlyMap<string, Slice>;
}

type Common = Pick<Decision, 'policyRevision' | 'resolved' | 'toolFactsHash'>;

/**
 * Decides one call: parameters first, then Cedar, then, if permits
 * make it an ask, Cedar once more under the action `ask`. FAIL CLOSED: whatever goes wrong is a deny.
 */
export function decide(set: LoadedSet, request: DecisionRequest): Decision {
  const common: Common = {
    policyRevision: set.revision,
    resolved: { tool: '', action: '' },
    toolFactsHash: '',
  };
  try {
    const resolution = set.registry.resolve(request.toolCall.tool, request.toolCall.action);
    if (resolution.kind === 'refused') {
      return deny(common, `${resolution.reason}. Send the tool's plain name`, []);
    }
    const { operation } = resolution;
    common.resolved = { tool: operation.tool, action: operation.action };
    common.toolFactsHash = operation.factsHash;
    const judged = judgeParameters(operation, request.toolCall.parameters);
    if (judged.kind === 'problem') {
      const reason = describeParameterProblem(operation, judged.problem);
      return { ...deny(common, reason, []), denial: createDenial('parameters', reason) };
    }
    return decideByPolicy(set, request, operation, judged.value, common);
  } catch {
    return deny(common, EVALUATION_FAILED, []);
  }
}

const EVALUATION_FAILED =
  'the policies could not be evaluated for this call, so it is denied. An operator finds out why by testing the policy set';

function decideByPolicy(
  set: LoadedSet,
  request: DecisionRequest,
  operation: Operation,
  parameters: CedarValueJson,
  common: Common,
): Decision {
  const slice = getSlice(set, operation.actionId);
  const call = buildAgentCall(request, operation, parameters, slice.reads);
  const answer = evaluate(slice.preparedName, call);
  if (answer.kind !== 'answered') {
    return denyUnevaluated(set, common, answer);
  }
  const applied = factsOfAll(set, answer.reason);
  if (answer.decision === 'deny') {
    return applied.length === 0
      ? deny(common, describeDefaultDeny(operation), [])
      : denyByForbids(common, applied);
  }
  const asks = applied.filter((policy) => policy.ask !== null);
  return asks.length === 0
    ? { ...common, decision: 'allow', reason: describe(applied), determiningPolicies: answer.reason }
    : decideAsk(set, buildAskCall(set, request, operation, parameters), asks, common);
}

/** The same call under the action `ask`, whose base forbids say when nobody may be asked. */
function buildAskCall(
  set: LoadedSet,
  request: DecisionRequest,
  operation: Operation,
  parameters: CedarValueJson,
): CedarCall {
  const ask = { ...operation, actionId: ASK_ACTION, actionGroups: [] };
  return buildAgentCall(request, ask, parameters, getSlice(set, ASK_ACTION).reads);
}

function decideAsk(set: LoadedSet, call: CedarCall, asks: readonly PolicyFacts[], common: Common): Decision {
  const answer = evaluate(getSlice(set, ASK_ACTION).preparedName, call);
  if (answer.kind !== 'answered') {
    return denyUnevaluated(set, common, answer);
  }
  const forbids = factsOfAll(set, answer.reason).filter((policy) => policy.effect === 'forbid');
  if (forbids.length > 0) {
    return denyByForbids(common, forbids);
  }
  const terms = collectAskTerms(asks.flatMap((policy) => (policy.ask === null ? [] : [policy.ask])));
  if (terms.requirements.votes > VOTES_MAX) {
    return deny(
      common,
      `the asks that apply demand more than ${VOTES_MAX} votes together. Change their groups`,
      [],
    );
  }
  const determiningPolicies = asks.map((policy) => policy.id);
  return { ...common, decision: 'require_approval', reason: describe(asks), determiningPolicies, terms };
}

/** Every id Cedar names is one of the set; another would be a fault of this service, and a deny. */
function factsOfAll(set: LoadedSet, ids: readonly string[]): PolicyFacts[] {
  return ids.map((id) => {
    const facts = set.policies.get(id);
    if (facts === undefined) throw new Error('cedar named a policy that is not in the set');
    return facts;
  });
}

function getSlice(set: LoadedSet, actionId: string): Slice {
  const slice = set.slices.get(actionId);
  if (slice === undefined) throw new Error('an action of the registry has no slice');
  return slice;
}

function denyUnevaluated(set: LoadedSet, common: Common, answer: Exclude<CedarAnswer, { kind: 'answered' }>) {
  if (answer.kind === 'failed') {
    return deny(common, EVALUATION_FAILED, []);
  }
  const errored = answer.errors.map((id) => `\`${id}\``).join(', ');
  const forbids = factsOfAll(set, answer.reason).filter((policy) => policy.effect === 'forbid');
  const reason = `policy ${errored} could not be evaluated for this call, so it is denied. An operator has to correct it`;
  return deny(
    common,
    reason,
    forbids.map((policy) => policy.id),
  );
}

function denyByForbids(common: Common, forbids: readonly PolicyFacts[]): Decision {
  const reason = describe(forbids);
  const denied = deny(
    common,
    reason,
    forbids.map((policy) => policy.id),
  );
  const by = forbids.find((policy) => policy.deniedBy !== null)?.deniedBy;
  return by ? { ...denied, denial: createDenial(by, reason) } : denied;
}

function deny(common: Common, reason: string, determiningPolicies: string[]) {
  return { ...common, decision: 'deny', reason, determiningPolicies, denial: null } as const;
}

/** The policies' own words, in order of their ids. */
function describe(policies: readonly PolicyFacts[]): string {
  return [...new Set(policies.map((policy) => policy.reason ?? `policy \`${policy.id}\` applies`))].join(
    '; ',
  );
}

function describeDefaultDeny({ tool, action, actionId, facts }: Operation): string {
  return facts.registered
    ? `no policy permits \`${tool}\`/\`${action}\` for this call. Add a permit for Aegis::Action::"${actionId}" to the policies`
    : `\`${tool}\`/\`${action}\` is not registered. Register it in policies/tools and permit it in a policy`;
}
