import type { PolicyFacts } from './annotations.ts';
import { NAMESPACE, type PolicyJson, type TypeAndId } from './cedar.ts';
import type { Reads } from './reads.ts';

/** One policy of a set that passed every check. */
export interface LoadedPolicy {
  facts: PolicyFacts;
  text: string;
  json: PolicyJson;
}

/** Policies that Cedar has parsed under a name. */
export interface SlicePart {
  preparedName: string;
  /** What a call has to hold for them. */
  reads: Reads;
  /** What is known of each, by id. */
  policies: ReadonlyMap<string, PolicyFacts>;
}

/** The policies whose scope can match one action and one principal, each in one part. */
export interface Slice {
  parts: readonly SlicePart[];
}

/** What calls are sliced by: a Cedar action with the groups that it is in for these calls. */
export interface SliceTarget {
  sliceId: string;
  actionId: string;
  groups: readonly string[];
  /** Whether such a call can run a command. */
  hasCommand: boolean;
}

/** What a policy's scope names of actions; null when it is open to all. An id of another namespace is left out. */
export type ActionScope = { op: '==' | 'in'; ids: readonly string[] } | null;

/** Policies with the same scope on the action, which therefore match the same actions. */
export interface ScopeClass<Policy> {
  scope: ActionScope;
  policies: Policy[];
}

/** Reads what a policy's scope names of actions. */
export function actionScopeOf({ action }: PolicyJson): ActionScope {
  switch (action.op) {
    case 'All':
      return null;
    case '==':
      return { op: '==', ids: 'entity' in action ? idsOfActions([action.entity]) : [] };
    case 'in':
      return { op: 'in', ids: idsOfActions('entity' in action ? [action.entity] : action.entities) };
  }
}

/** Whether the scope of a policy matches an action: its id, and then those of its groups. */
export function canMatch(policy: PolicyJson, [actionId, ...groups]: readonly string[]): boolean {
  const scope = actionScopeOf(policy);
  if (scope === null) return true;
  return scope.ids.some((id) => id === actionId || (scope.op === 'in' && groups.includes(id)));
}

/** Id of the one principal that a policy's scope can match, undefined when it can match others. */
export function exactPrincipalOf({ principal }: PolicyJson): string | undefined {
  if (principal.op !== '==' || !('entity' in principal)) return undefined;
  return idOf(principal.entity).id;
}

/** Groups policies by their scope on the action, in the order of their first members. */
export function groupByScope<Policy extends { json: PolicyJson }>(
  policies: readonly Policy[],
): ScopeClass<Policy>[] {
  const classes = new Map<string, ScopeClass<Policy>>();
  for (const policy of policies) {
    const scope = actionScopeOf(policy.json);
    const key = JSON.stringify(scope);
    const known = classes.get(key);
    if (known === undefined) classes.set(key, { scope, policies: [policy] });
    else known.policies.push(policy);
  }
  return [...classes.values()];
}

/**
 * The policies of each slice, in the order given. Evaluation costs 2 to 20 µs per prepared policy, so a call
 * pays for those of its own action only. Sound: a policy is in a slice exactly if the action its scope names is the
 * slice's action or one of its groups, which is when Cedar would go on to its conditions.
 */
export function slicePolicies<Policy extends { json: PolicyJson }>(
  policies: readonly Policy[],
  targets: readonly SliceTarget[],
): Map<string, Policy[]> {
  const classesByName = indexByName(groupByScope(policies));
  const order = new Map(policies.map((policy, index) => [policy, index]));
  const placeOf = (policy: Policy) => order.get(policy) ?? 0;
  return new Map(
    targets.map(({ sliceId, actionId, groups }) => {
      const names = [OPEN, nameOf('==', actionId), ...[actionId, ...groups].map((id) => nameOf('in', id))];
      const classes = new Set(names.flatMap((name) => classesByName.get(name) ?? []));
      const matching = [...classes].flatMap((one) => one.policies);
      return [sliceId, matching.toSorted((a, b) => placeOf(a) - placeOf(b))];
    }),
  );
}

const OPEN = 'open';

function nameOf(op: '==' | 'in', id: string): string {
  return `${op} ${id}`;
}

function indexByName<Policy>(classes: readonly ScopeClass<Policy>[]): Map<string, ScopeClass<Policy>[]> {
  const byName = new Map<string, ScopeClass<Policy>[]>();
  for (const one of classes) {
    const { scope } = one;
    for (const name of scope === null ? [OPEN] : scope.ids.map((id) => nameOf(scope.op, id))) {
      byName.set(name, [...(byName.get(name) ?? []), one]);
    }
  }
  return byName;
}

function idsOfActions(entities: readonly (TypeAndId | { __entity: TypeAndId })[]): string[] {
  return entities.map(idOf).flatMap(({ type, id }) => (type === `${NAMESPACE}::Action` ? [id] : []));
}

function idOf(entity: TypeAndId | { __entity: TypeAndId }): TypeAndId {
  return '__entity' in entity ? entity.__entity : entity;
}
