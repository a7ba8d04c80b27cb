import { findNearestName } from '../core/nearest_name.ts';
import { attributePaths, type Variable } from './attribute_paths.ts';
import { type AttributeTree, createAttributeTree, withoutNamespace } from './attribute_tree.ts';
import { NAMESPACE, type PolicyJson, type SchemaJson, type Type } from './cedar.ts';
import { findMisspeltEntities } from './entity_names.ts';
import { ASK_ACTION, ASK_FACTS } from './model.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { canMatch, type LoadedPolicy } from './slices.ts';

/** A name further away than this is no slip of the hand. */
const SLIPS_MAX = 2;

/** Where a chain of attributes begins, and what a policy could find there; undefined where nothing is in its scope. */
type Roots = Record<Exclude<Variable, 'action'>, AttributeTree | undefined>;

/**
 * Finds attributes of `context`, `principal` and `resource` that a policy reads, or tests with `has`, and nothing in
 * its scope has. Cedar's validator takes such a test as false and never looks at what depends on it: misspelt behind
 * `!` or `||`, it holds always. The same goes for an entity in a spelling that no call has.
 */
export function findUnknownContextNames(
  policies: readonly LoadedPolicy[],
  schema: SchemaJson<string>,
): PolicySetProblem[] {
  const own = schema[NAMESPACE];
  if (own === undefined) return [];
  const actions = listActions(own.actions);
  const rootsByScope = new Map<string, Roots>();
  return policies.flatMap(({ facts, json }) => {
    const scope = JSON.stringify([json.action, typeOfScope(json.principal), typeOfScope(json.resource)]);
    const roots = rootsByScope.get(scope) ?? findRoots(json, actions, own.entityTypes);
    rootsByScope.set(scope, roots);
    const problems = new Map([...findUnknownPaths(json, roots), ...findMisspeltEntities(json)]);
    return [...problems].map(([message, help]) => problem(message, help, { policyId: facts.id }));
  });
}

interface CallableAction {
  /** Its id, then those of its groups. */
  ids: string[];
  principalTypes: readonly string[];
  resourceTypes: readonly string[];
  context: Type<string> | undefined;
}

/** Every action that a request can name. */
function listActions(actions: SchemaJson<string>[string]['actions']): CallableAction[] {
  return Object.entries(actions).flatMap(([id, { memberOf, appliesTo }]) => {
    if (appliesTo === undefined || appliesTo === null) return [];
    const ids = [id, ...(memberOf ?? []).map((group) => group.id)];
    const { principalTypes, resourceTypes, context } = appliesTo;
    return [{ ids, principalTypes, resourceTypes, context }];
  });
}

function findRoots(
  json: PolicyJson,
  actions: readonly CallableAction[],
  entityTypes: SchemaJson<string>[string]['entityTypes'],
): Roots {
  const inScope = actions.filter(({ ids }) => canMatch(json, ids));
  const treeOf = (types: readonly Type<string>[]) =>
    types.length === 0 ? undefined : createAttributeTree(types, entityTypes);
  const treeOfEntities = (names: readonly string[], only: string | undefined) => {
    const possible = [...new Set(names)].filter((name) => only === undefined || only === name);
    return treeOf(possible.map((name): Type<string> => ({ type: 'Entity', name })));
  };
  const principals = inScope.flatMap((action) => action.principalTypes);
  const resources = inScope.flatMap((action) => action.resourceTypes);
  return {
    context: treeOf(inScope.flatMap(({ context }) => context ?? [])),
    principal: treeOfEntities(principals, typeOfScope(json.principal)),
    resource: treeOfEntities(resources, typeOfScope(json.resource)),
  };
}

/** The one entity type that a scope admits, without its namespace; undefined when it admits several. */
function typeOfScope(constraint: PolicyJson['principal' | 'resource']): string | undefined {
  if (constraint.op === 'is') return withoutNamespace(constraint.entity_type);
  if (constraint.op !== '==' || !('entity' in constraint)) return undefined;
  const { entity } = constraint;
  return withoutNamespace('__entity' in entity ? entity.__entity.type : entity.type);
}

/** Each unknown path as a message with its remedy. Where nothing is in scope, the validator has its say. */
function findUnknownPaths({ conditions }: PolicyJson, roots: Roots): [message: string, help: string][] {
  const bodies = conditions.map((clause) => clause.body);
  return (['context', 'principal', 'resource'] as const).flatMap((variable) => {
    const root = roots[variable];
    if (root === undefined) return [];
    return [...attributePaths(bodies, variable)].flatMap((path) => findUnknownName(variable, path, root));
  });
}

function findUnknownName(
  variable: Variable,
  path: readonly string[],
  root: AttributeTree,
): [message: string, help: string][] {
  let place = root;
  for (const [depth, name] of path.entries()) {
    const attributes = place.attributes();
    const next = attributes.get(name);
    if (next === undefined) {
      const wrong = [variable, ...path.slice(0, depth + 1)].join('.');
      return [[`no action of its scope has \`${wrong}\``, remedyFor(wrong, name, [...attributes.keys()])]];
    }
    place = next;
  }
  return [];
}

function remedyFor(wrong: string, name: string, known: readonly string[]): string {
  if (ASK_FACTS.some((fact) => wrong === `context.${fact}`)) {
    return `Only Aegis::Action::"${ASK_ACTION}" has it, the second word on an ask: put a forbid with that action in its scope.`;
  }
  const nearest = findNearestName(name, known, SLIPS_MAX);
  return nearest === undefined
    ? 'Remove it, or register the tool that has it.'
    : `Did you mean \`${nearest}\`?`;
}
