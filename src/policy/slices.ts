import type { PolicyFacts } from './annotations.ts';
import { NAMESPACE, type PolicyJson, preparePolicies, type TypeAndId } from './cedar.ts';
import { type Reads, readsOf } from './reads.ts';

/** One policy of a set that passed every check. */
export interface LoadedPolicy {
  facts: PolicyFacts;
  text: string;
  json: PolicyJson;
}

/** The policies whose scope can match one action, parsed by Cedar under a name. */
export interface Slice {
  preparedName: string;
  /** What a call has to hold for them. */
  reads: Reads;
}

/**
 * Prepares, for each action, the policies that can match it. Evaluation costs about 2 µs per prepared policy,
 * so a call pays for those of its own action only. Sound: a policy is in a slice exactly if the action its scope
 * names is the slice's action or one of its groups, which is when Cedar would go on to its conditions.
 */
export function prepareSlices(
  revision: string,
  policies: readonly LoadedPolicy[],
  actions: readonly { id: string; groups: readonly string[] }[],
): ReadonlyMap<string, Slice> {
  const slices = new Map<string, Slice>();
  const preparedByContent = new Map<string, Slice>();
  for (const { id, groups } of actions) {
    const matching = policies.filter((policy) => canMatch(policy.json, [id, ...groups]));
    const content = matching.map((policy) => policy.facts.id).join(' ');
    const slice = preparedByContent.get(content) ?? prepareSlice(`${revision}/${id}`, matching);
    preparedByContent.set(content, slice);
    slices.set(id, slice);
  }
  return slices;
}

function prepareSlice(preparedName: string, policies: readonly LoadedPolicy[]): Slice {
  const matched = policies.map((policy) => ({ id: policy.facts.id, ...dropActionScope(policy) }));
  const prepared = preparePolicies(
    preparedName,
    Object.fromEntries(matched.map(({ id, form }) => [id, form])),
  );
  if (prepared.kind === 'faults') {
    throw new Error(`policies that parsed singly do not parse together: ${prepared.faults[0]?.message}`);
  }
  return { preparedName, reads: readsOf(matched.map(({ json }) => json)) };
}

/**
 * Within a slice the scope on the action is known to match. Without it a call need not hold its action's groups,
 * which is a fifth of the cost. An integer beyond 2^53 would be rounded in Cedar's JSON form: such a policy keeps
 * its text.
 */
function dropActionScope({ json, text }: LoadedPolicy): { form: string | PolicyJson; json: PolicyJson } {
  if (!hasExactNumbers(json.conditions)) return { form: text, json };
  const dropped: PolicyJson = { ...json, action: { op: 'All' } };
  return { form: dropped, json: dropped };
}

function hasExactNumbers(node: unknown): boolean {
  if (typeof node === 'number') return Number.isSafeInteger(node);
  return typeof node !== 'object' || node === null || Object.values(node).every(hasExactNumbers);
}

/** Whether the scope of a policy matches an action, given by its id and those of its groups. */
export function canMatch(policy: PolicyJson, actionIds: readonly string[]): boolean {
  const { action } = policy;
  switch (action.op) {
    case 'All':
      return true;
    case '==':
      return 'entity' in action && isOneOf(action.entity, actionIds);
    case 'in': {
      const entities = 'entity' in action ? [action.entity] : action.entities;
      return entities.some((entity) => isOneOf(entity, actionIds));
    }
  }
}

function isOneOf(entity: TypeAndId | { __entity: TypeAndId }, actionIds: readonly string[]): boolean {
  const { type, id } = '__entity' in entity ? entity.__entity : entity;
  return type === `${NAMESPACE}::Action` && actionIds.includes(id);
}
