import { NAMESPACE, type SchemaJson, validatePolicies } from './cedar.ts';
import { toPolicyProblem } from './check_policies.ts';
import { findUnknownContextNames } from './context_names.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { type ActionScope, groupByScope, type LoadedPolicy } from './slices.ts';

type Actions = SchemaJson<string>[string]['actions'];

/**
 * Validates policies against the schema; every error and warning is a problem. Stops beyond so many problems.
 *
 * Cedar checks each policy under every action of the schema, 10,000 policies under 1,000 actions for minutes. So
 * policies of one scope are checked together, against the schema without the actions that their scope leaves out.
 * Sound: under an action outside a policy's scope the validator finds the policy false at the scope, goes no further
 * and reports nothing; and it calls a policy impossible when it is false under all actions, which those left out
 * cannot change. Actions that the policies name elsewhere stay, as do all groups that an action is in. Of actions that
 * differ in nothing but their ids, which no policy names, one stands for all.
 */
export function validateByScope(
  policies: readonly LoadedPolicy[],
  schema: SchemaJson<string>,
  problemsMax: number,
): PolicySetProblem[] {
  const actions = schema[NAMESPACE]?.actions ?? {};
  const members = listMembers(actions);
  const kinds = new Map(Object.entries(actions).map(([id, action]) => [id, JSON.stringify(action)]));
  const problems: PolicySetProblem[] = [];
  for (const { scope, policies: alike } of groupByScope(policies)) {
    const named = namedActions(alike);
    const others = matchedActions(scope, members, actions).filter((id) => !named.has(id));
    const oneOfEach = new Map(others.map((id) => [kinds.get(id), id])).values();
    const reduced = reduceSchema(schema, [...named, ...oneOfEach]);
    problems.push(...findInvalid(alike, reduced), ...findUnknownContextNames(alike, reduced));
    if (problems.length > problemsMax) break;
  }
  return problems;
}

function findInvalid(policies: readonly LoadedPolicy[], schema: SchemaJson<string>): PolicySetProblem[] {
  const texts = new Map(policies.map(({ facts, text }) => [facts.id, text]));
  return validatePolicies(Object.fromEntries(texts), schema).map(({ policyId, fault }) =>
    policyId === null
      ? problem(fault.message, fault.help)
      : toPolicyProblem(policyId, texts.get(policyId) ?? '', fault),
  );
}

function matchedActions(
  scope: ActionScope,
  members: ReadonlyMap<string, readonly string[]>,
  actions: Actions,
): readonly string[] {
  if (scope === null) return Object.keys(actions);
  return scope.op === '==' ? scope.ids : scope.ids.flatMap((id) => [id, ...(members.get(id) ?? [])]);
}

/** Every action that is in a group, by the group, however far up it stands. */
function listMembers(actions: Actions): Map<string, string[]> {
  const members = new Map<string, string[]>();
  for (const id of Object.keys(actions)) {
    for (const group of groupsOf(id, actions)) {
      const known = members.get(group);
      if (known === undefined) members.set(group, [id]);
      else known.push(id);
    }
  }
  return members;
}

function groupsOf(id: string, actions: Actions, found = new Set<string>()): Set<string> {
  for (const group of actions[id]?.memberOf ?? []) {
    if (found.has(group.id)) continue;
    found.add(group.id);
    groupsOf(group.id, actions, found);
  }
  return found;
}

/** Ids of all actions that stand in policies as values, in conditions as in scopes. */
function namedActions(policies: readonly LoadedPolicy[]): Set<string> {
  const named = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && 'id' in node && node.type === `${NAMESPACE}::Action`) named.add(String(node.id));
    for (const child of Object.values(node)) visit(child);
  };
  for (const { json } of policies) visit({ action: json.action, conditions: json.conditions });
  return named;
}

/** The schema with these actions and their groups only; whole when one is unknown, so that a remedy names the nearest. */
function reduceSchema(schema: SchemaJson<string>, wanted: readonly string[]): SchemaJson<string> {
  const own = schema[NAMESPACE];
  if (own === undefined || wanted.some((id) => !Object.hasOwn(own.actions, id))) return schema;
  const kept = new Set(wanted.flatMap((id) => [id, ...groupsOf(id, own.actions)]));
  const actions = Object.fromEntries(
    [...kept].flatMap((id) => {
      const action = own.actions[id];
      return action === undefined ? [] : [[id, action]];
    }),
  );
  return { ...schema, [NAMESPACE]: { ...own, actions } };
}
