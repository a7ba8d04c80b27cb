import { findNearestName } from '../core/nearest_name.ts';
import type { PolicyJson, SchemaJson, Type } from './cedar.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { contextPaths } from './reads.ts';
import { canMatch, type LoadedPolicy } from './slices.ts';

/** A name further away than this is no slip of the hand. */
const SLIPS_MAX = 2;

/**
 * Finds what policies read of `context`, or test with `has`, and no action of their scope has. Cedar's validator
 * takes such a test as false and never looks at what depends on it: misspelt behind `!` or `||`, it holds always.
 */
export function findUnknownContextNames(
  policies: readonly LoadedPolicy[],
  schema: SchemaJson<string>,
): PolicySetProblem[] {
  const contexts = contextsOf(schema);
  return policies.flatMap(({ facts, json }) => {
    const inScope = contexts.flatMap(({ ids, context }) => (canMatch(json, ids) ? [context] : []));
    const problems = findUnknownPaths(json, inScope);
    return [...problems].map(([message, help]) => problem(message, help, { policyId: facts.id }));
  });
}

/** The context of every action that a request can name, with the action's id and groups. */
function contextsOf(schema: SchemaJson<string>): { ids: string[]; context: Type<string> }[] {
  return Object.values(schema).flatMap(({ actions }) =>
    Object.entries(actions).flatMap(([id, { memberOf, appliesTo }]) =>
      appliesTo?.context === undefined
        ? []
        : [{ ids: [id, ...(memberOf ?? []).map((group) => group.id)], context: appliesTo.context }],
    ),
  );
}

/** Each unknown path once, as a message with its remedy. */
function findUnknownPaths(
  { conditions }: PolicyJson,
  contexts: readonly Type<string>[],
): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of contextPaths(conditions.map((clause) => clause.body))) {
    let types = contexts;
    for (const [depth, name] of path.entries()) {
      const records = types.map(attributesOf);
      types = records.flatMap((attributes) => attributes.get(name) ?? []);
      if (types.length > 0) continue;
      const wrong = ['context', ...path.slice(0, depth + 1)].join('.');
      const known = records.flatMap((attributes) => [...attributes.keys()]);
      found.set(`no action of its scope has \`${wrong}\``, remedyFor(name, known));
      break;
    }
  }
  return found;
}

function remedyFor(name: string, known: readonly string[]): string {
  const nearest = findNearestName(name, known, SLIPS_MAX);
  return nearest === undefined
    ? 'Remove it, or register the tool that has it.'
    : `Did you mean \`${nearest}\`?`;
}

/** What a value of the type may have; nothing unless it is a record. */
function attributesOf(type: Type<string>): ReadonlyMap<string, Type<string>> {
  return new Map('attributes' in type ? Object.entries(type.attributes) : []);
}
