import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import type { GroupDemand } from '../core/policy.ts';
import type { Rules, ToolPermission } from '../core/rules.ts';
import type { ToolRegistration } from '../core/tool_registration.ts';
import type { SchemaJson } from './cedar.ts';
import { readPolicies } from './check_policies.ts';
import { mergeTools } from './merge_tools.ts';
import { buildCedarSchema } from './model.ts';
import { type PackedPolicies, packPolicies } from './packed_policies.ts';
import { limitProblems, type PolicySetProblem, PROBLEMS_MAX, problem } from './policy_set_error.ts';
import { buildRegistry } from './registry.ts';
import { listSliceTargets } from './slice_targets.ts';
import { validateByScope } from './validate_by_scope.ts';

/** Rules that passed every check, in a form that is handed to another thread at little cost. */
export interface CompiledRules {
  revision: string;
  tools: ToolRegistration[];
  permissions: ToolPermission[];
  groupDemands: GroupDemand[];
  policies: PackedPolicies;
}

export type Compilation =
  | { kind: 'compiled'; compiled: CompiledRules }
  | { kind: 'refused'; problems: PolicySetProblem[] };

/**
 * Checks rules and makes them ready to be opened: base and tenant's own merged, every policy read and validated
 * against the schema that the registry generates, and put into its slices. Takes seconds for thousands of policies,
 * so the service does it on a thread of its own. Lines and columns of problems are those of the policy's own text.
 */
export function compileRules(rules: Rules): Compilation {
  const taken = Object.keys(rules.policies).filter((id) => Object.hasOwn(rules.base.policies, id));
  const merged = mergeTools(rules.base.tools, rules.tools);
  const { registry, problems } = buildRegistry(merged.tools, rules.permissions);
  const read = readPolicies({ ...rules.base.policies, ...rules.policies }, PROBLEMS_MAX);
  const found = [...taken.map(takenId), ...read.problems, ...merged.problems, ...problems];
  if (found.length > 0) return { kind: 'refused', problems: limitProblems(found) };

  const schema = buildCedarSchema(registry.operations);
  const invalid = validateByScope(read.policies, schema, PROBLEMS_MAX);
  if (invalid.length > 0) return { kind: 'refused', problems: limitProblems(invalid) };

  const texts = Object.fromEntries(read.policies.map(({ facts, text }) => [facts.id, text]));
  const revision = computeRevision(texts, schema, registry.registrations, rules.permissions);
  const policies = packPolicies(read.policies, listSliceTargets(registry.operations));
  const { permissions } = rules;
  const groupDemands = read.policies.flatMap(({ facts }) =>
    facts.ask === null || facts.ask.groups.length === 0
      ? []
      : [{ policyId: facts.id, groups: facts.ask.groups }],
  );
  return {
    kind: 'compiled',
    compiled: { revision, tools: merged.tools, permissions, groupDemands, policies },
  };
}

function takenId(policyId: string): PolicySetProblem {
  return problem('its `@id` is taken by a base policy', 'Rename it.', { policyId });
}

/** SHA-256 of the canonical JSON of all that decisions depend on; the order in which it was read is no part. */
function computeRevision(
  policies: Record<string, string>,
  schema: SchemaJson<string>,
  tools: readonly JsonObject[],
  permissions: readonly ToolPermission[],
): string {
  const sorted = permissions
    .map(({ pattern, permission }) => ({ pattern, permission }))
    .toSorted((a, b) => (a.pattern < b.pattern ? -1 : 1));
  // The schema is made of objects, arrays, strings and booleans alone; `canonicalize` throws on anything else.
  const facts = { schema: schema as unknown as JsonObject, tools: [...tools], permissions: sorted };
  return sha256Hex(canonicalize({ policies, ...facts }));
}
