import { canonicalize } from '../core/canonical_json.ts';
import type { JsonObject, JsonValue } from '../core/json.ts';
import type { Permission } from '../core/policy.ts';
import { readNames } from './build_operation.ts';
import { factsFor, factsOf, strictestOf } from './facts_by.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { parseToolRegistration, type ToolRegistration } from './tool_registration.ts';

/** Members that a tenant cannot change of a base tool: what the tool is, not what may be done with it. */
const STRUCTURAL = [
  'aliases',
  'parameters_schema',
  'facts_by',
  'path_parameters',
  'host_parameters',
  'workspace_root',
  'command_parameter',
  'argv_parameter',
] as const;

/**
 * Reads the registrations of the base and a tenant's own, and joins them. One of the tenant's that names a base
 * operation can only tighten it: facts are the strictest of both for every value they depend on, the permission the
 * stricter, and what either calls secret is secret; everything else is left out or the same. Problems have pointers
 * into the tenant's registration.
 */
export function mergeTools(
  base: readonly JsonObject[],
  tenant: readonly JsonObject[],
): { tools: ToolRegistration[]; problems: PolicySetProblem[] } {
  const readBase = base.map(readTool);
  const readTenant = tenant.map(readTool);
  const problems = [...readBase, ...readTenant].flatMap((one) => one.problems);
  const tools = readBase.flatMap(({ tool }) => tool ?? []);
  const places = new Map(tools.map((tool, index) => [nameOf(tool), index]));
  const merged = new Set<string>();
  for (const own of readTenant.flatMap(({ tool }) => tool ?? [])) {
    const name = nameOf(own);
    const place = name === undefined || merged.has(name) ? undefined : places.get(name);
    const known = place === undefined ? undefined : tools[place];
    if (place === undefined || name === undefined || known === undefined) {
      tools.push(own);
      continue;
    }
    problems.push(...findLoosening(known, own));
    tools[place] = tighten(known, own);
    merged.add(name);
  }
  return { tools, problems };
}

function readTool(value: JsonObject): { tool?: ToolRegistration; problems: PolicySetProblem[] } {
  const parsed = parseToolRegistration(value);
  if (parsed.kind === 'tool') return { tool: parsed.tool, problems: [] };
  const named = describe(value.tool, value.action);
  return {
    problems: parsed.issues.map(({ pointer, reason }) => problem(`${named}: ${reason}`, null, { pointer })),
  };
}

function findLoosening(known: ToolRegistration, own: ToolRegistration): PolicySetProblem[] {
  const named = describe(own.tool, own.action);
  const changed = STRUCTURAL.filter(
    (member) => !isEmpty(own[member]) && !areEqual(own[member], known[member]),
  );
  const problems = changed.map((member) => {
    const help = 'Leave it out; a base tool can only be tightened.';
    return problem(`${named}: \`${member}\` is not that of the base tool`, help, { pointer: `/${member}` });
  });
  if (own.permission !== null && isLooser(own.permission, known.permission)) {
    const help = 'A base tool can only be tightened here; a permission of its exact name can allow it.';
    const message = `${named}: the permission \`${own.permission}\` is looser than that of the base tool`;
    problems.push(problem(message, help, { pointer: '/permission' }));
  }
  return problems;
}

function tighten(known: ToolRegistration, own: ToolRegistration): ToolRegistration {
  const { facts_by } = known;
  const values = Object.keys(facts_by?.values ?? {}).map((value) => [
    value,
    strictestOf(factsFor(known, value), factsFor(own, value)),
  ]);
  return {
    ...known,
    ...strictestOf(factsOf(known), factsOf(own)),
    secret_parameters: joinNames(own.secret_parameters, known.secret_parameters),
    permission:
      own.permission === null || isLooser(own.permission, known.permission)
        ? known.permission
        : own.permission,
    facts_by: facts_by && { parameter: facts_by.parameter, values: Object.fromEntries(values) },
  };
}

/** The tenant's own keep their places, by which the registry tells what is wrong with them. */
function joinNames(own: readonly string[], known: readonly string[]): string[] {
  return [...own, ...known.filter((name) => !own.includes(name))];
}

/** From the strictest: none leaves a tool to its tier, which `allow` lifts. */
const ORDER: readonly (Permission | null)[] = ['deny', 'ask', null, 'allow'];

function isLooser(one: Permission | null, other: Permission | null): boolean {
  return ORDER.indexOf(one) > ORDER.indexOf(other);
}

function nameOf(tool: ToolRegistration): string | undefined {
  const read = readNames(tool);
  return read.kind === 'names' ? read.names.actionId : undefined;
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function areEqual(one: JsonValue, other: JsonValue): boolean {
  return canonicalize(one) === canonicalize(other);
}

function describe(tool: JsonValue | undefined, action: JsonValue | undefined): string {
  return `tool \`${String(tool)}\`/\`${String(action)}\``;
}
