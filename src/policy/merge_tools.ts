import type { JsonObject, JsonValue } from '../core/json.ts';
import { findOtherStructure, hasLooserPermission, tightenTool } from '../core/tighten_tool.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';
import { readNames } from './build_operation.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { parseToolRegistration } from './tool_registration.ts';

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
    tools[place] = tightenTool(known, own);
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
  const problems = findOtherStructure(known, own).map((member) => {
    const help = 'Leave it out; a base tool can only be tightened.';
    return problem(`${named}: \`${member}\` is not that of the base tool`, help, { pointer: `/${member}` });
  });
  if (hasLooserPermission(known, own)) {
    const help = 'A base tool can only be tightened here; a permission of its exact name can allow it.';
    const message = `${named}: the permission \`${own.permission}\` is looser than that of the base tool`;
    problems.push(problem(message, help, { pointer: '/permission' }));
  }
  return problems;
}

function nameOf(tool: ToolRegistration): string | undefined {
  const read = readNames(tool);
  return read.kind === 'names' ? read.names.actionId : undefined;
}

function describe(tool: JsonValue | undefined, action: JsonValue | undefined): string {
  return `tool \`${String(tool)}\`/\`${String(action)}\``;
}
