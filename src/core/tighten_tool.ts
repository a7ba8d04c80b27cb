import { canonicalize } from './canonical_json.ts';
import type { JsonValue } from './json.ts';
import type { Permission } from './policy.ts';
import { factsFor, factsOf, strictestOf, type ToolRegistration } from './tool_registration.ts';

// A tenant's registration of an operation that the base set has can only tighten it.

/** What a tool is, beside what may be done with it: in the base set it is given. */
const STRUCTURE = [
  'aliases',
  'parameters_schema',
  'facts_by',
  'path_parameters',
  'host_parameters',
  'workspace_root',
  'command_parameter',
  'argv_parameter',
] as const;

/** From the strictest: none leaves a tool to its tier, which `allow` lifts. */
const ORDER: readonly (Permission | null)[] = ['deny', 'ask', null, 'allow'];

/** The members by which a registration, where it says them, makes another tool of the one that is known. */
export function findOtherStructure(known: ToolRegistration, own: ToolRegistration): string[] {
  return STRUCTURE.filter(
    (member) => !isEmpty(own[member]) && canonicalize(own[member]) !== canonicalize(known[member]),
  );
}

/** Whether a registration says a permission that is looser than the known one. */
export function hasLooserPermission(known: ToolRegistration, own: ToolRegistration): boolean {
  return own.permission !== null && ORDER.indexOf(own.permission) > ORDER.indexOf(known.permission);
}

/**
 * The known tool as another registration of it tightens it: facts are the strictest of both for every value they
 * depend on, the permission the stricter, and what either calls secret is secret. The other's secrets keep their
 * places, by which is told what is wrong with them.
 */
export function tightenTool(known: ToolRegistration, own: ToolRegistration): ToolRegistration {
  const { facts_by } = known;
  const values = Object.keys(facts_by?.values ?? {}).map((value) => [
    value,
    strictestOf(factsFor(known, value), factsFor(own, value)),
  ]);
  return {
    ...known,
    ...strictestOf(factsOf(known), factsOf(own)),
    secret_parameters: [
      ...own.secret_parameters,
      ...known.secret_parameters.filter((name) => !own.secret_parameters.includes(name)),
    ],
    permission:
      own.permission === null || hasLooserPermission(known, own) ? known.permission : own.permission,
    facts_by: facts_by && { parameter: facts_by.parameter, values: Object.fromEntries(values) },
  };
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}
