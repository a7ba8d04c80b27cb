import { canonicalize } from '../core/canonical_json.ts';
import { sha256Hex } from '../core/digest.ts';
import type { JsonObject } from '../core/json.ts';
import type { PolicySet } from '../core/policy.ts';
import { findAnnotationFaults, isPolicyId, readPolicyFacts } from './annotations.ts';
import { parsePolicy, type SchemaJson, validatePolicies } from './cedar.ts';
import { findUnknownContextNames } from './context_names.ts';
import { decide, type LoadedSet } from './decide.ts';
import { judgeApprover } from './judge_approver.ts';
import { buildCedarSchema } from './model.ts';
import { PolicySetError, type PolicySetProblem, problem } from './policy_set_error.ts';
import { findForbiddenCharacter } from './policy_text.ts';
import { buildRegistry } from './registry.ts';
import { type LoadedPolicy, prepareSlices } from './slices.ts';
import type { ToolRegistration } from './tool_registration.ts';

/** A policy set as texts and registrations, wherever they were kept. */
export interface PolicySetInput {
  /** Policy texts by `@id`, one policy each. */
  policies: Readonly<Record<string, string>>;
  tools: readonly ToolRegistration[];
}

/**
 * Checks a policy set and makes it ready to decide: every policy is read, validated against the schema that
 * the registry generates, and parsed once. Throws a `PolicySetError` that names every problem found, by policy.
 * Pure but for Cedar's own store of parsed sets, in which sets of different revisions do not meet.
 */
export function buildPolicySet(input: PolicySetInput): PolicySet {
  const read = Object.entries(input.policies).map(([id, text]) => readPolicy(id, text));
  const { registry, problems } = buildRegistry(input.tools);
  failOn([...read.flatMap((one) => (one.kind === 'problems' ? one.problems : [])), ...problems]);

  const policies = read.flatMap((one) => (one.kind === 'policy' ? [one.policy] : []));
  const texts = Object.fromEntries(policies.map(({ facts, text }) => [facts.id, text]));
  const schema = buildCedarSchema(registry.operations);
  failOn(
    validatePolicies(texts, schema).map(({ policyId, fault }) =>
      problem(fault.message, fault.help, { policyId }),
    ),
  );
  failOn(findUnknownContextNames(policies, schema));

  const revision = computeRevision(texts, schema, registry.registrations);
  const set: LoadedSet = {
    revision,
    registry,
    policies: new Map(policies.map(({ facts }) => [facts.id, facts])),
    slices: prepareSlices(revision, policies, actionsOf(schema)),
  };
  return {
    revision,
    decide: (request) => decide(set, request),
    judgeApprover: (request) => judgeApprover(set, request),
  };
}

/** SHA-256 of the canonical JSON of all that decisions depend on; the order in which it was read is no part. */
function computeRevision(
  policies: Record<string, string>,
  schema: SchemaJson<string>,
  tools: readonly JsonObject[],
): string {
  // The schema is made of objects, arrays, strings and booleans alone; `canonicalize` throws on anything else.
  return sha256Hex(canonicalize({ policies, schema: schema as unknown as JsonObject, tools: [...tools] }));
}

/** Every action a call can name, with the groups it is in. */
function actionsOf(schema: SchemaJson<string>): { id: string; groups: string[] }[] {
  return Object.values(schema).flatMap(({ actions }) =>
    Object.entries(actions).map(([id, { memberOf }]) => ({
      id,
      groups: (memberOf ?? []).map((group) => group.id),
    })),
  );
}

type ReadPolicy =
  | { kind: 'policy'; policy: LoadedPolicy }
  | { kind: 'problems'; problems: PolicySetProblem[] };

function readPolicy(id: string, text: string): ReadPolicy {
  const refuse = (message: string, help: string | null): ReadPolicy => ({
    kind: 'problems',
    problems: [problem(message, help, { policyId: id })],
  });
  if (!isPolicyId(id)) {
    return refuse('the id is not kebab-case', 'Use lower-case letters, digits and single hyphens.');
  }
  if (findForbiddenCharacter(text) !== undefined) {
    return refuse('the text has a control, bidi or invisible character', 'Remove it.');
  }
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') {
    return refuse(parsed.faults.map(({ message }) => message).join('; '), parsed.faults[0]?.help ?? null);
  }
  const json = parsed.value;
  if (json.annotations?.id !== id) {
    return refuse('its `@id` is missing or another', `Begin it with @id("${id}").`);
  }
  const faults = findAnnotationFaults(json);
  return faults.length === 0
    ? { kind: 'policy', policy: { facts: readPolicyFacts(id, json), text, json } }
    : {
        kind: 'problems',
        problems: faults.map(({ message, help }) => problem(message, help, { policyId: id })),
      };
}

function failOn(problems: readonly PolicySetProblem[]): void {
  if (problems.length > 0) {
    throw new PolicySetError(problems);
  }
}
