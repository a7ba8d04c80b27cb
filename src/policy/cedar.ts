import { setFlagsFromString } from 'node:v8';
import {
  type AuthorizationAnswer,
  type DetailedError,
  formatPolicies,
  type PolicyJson,
  policySetTextToParts,
  policyToJson,
  preparsePolicySet,
  type SchemaJson,
  type StatefulAuthorizationCall,
  statefulIsAuthorized,
  validate,
} from '@cedar-policy/cedar-wasm/nodejs';

export type {
  CedarValueJson,
  EntityJson,
  Expr,
  PolicyJson,
  SchemaJson,
  Type,
  TypeAndId,
} from '@cedar-policy/cedar-wasm/nodejs';

// Node 20 (V8 11.3) ends the whole process, `unreachable code`, when a function is deoptimised during a call of
// WebAssembly that was inlined into it and gives an object, as Cedar's do. Before any of it is optimised.
setFlagsFromString('--no-turbo-inline-js-wasm-calls');

/** The namespace of everything the service tells Cedar. */
export const NAMESPACE = 'Aegis';

/** A fault that Cedar found; `start` is in UTF-8 bytes of the text it was given. */
export interface CedarFault {
  message: string;
  help: string | null;
  start: number | null;
}

export type CedarResult<T> = { kind: 'ok'; value: T } | { kind: 'faults'; faults: CedarFault[] };

export type CedarCall = Omit<
  StatefulAuthorizationCall,
  'preparsedPolicySetId' | 'validateRequest' | 'preparsedSchemaName'
>;

/** What Cedar made of a call. Only `answered` may be acted on; ids stand in order. */
export type CedarAnswer =
  | { kind: 'answered'; decision: 'allow' | 'deny'; reason: string[] }
  /** Some policies could not be evaluated: Cedar skips them, so its decision stands for nothing. */
  | { kind: 'erred'; decision: 'allow' | 'deny'; reason: string[]; errors: string[] }
  | { kind: 'failed'; cause: string };

/** Splits a text into its policies and templates, comments between them dropped, annotations kept. */
export function splitPolicies(text: string): CedarResult<{ policies: string[]; templates: string[] }> {
  const answer = policySetTextToParts(text);
  return answer.type === 'failure'
    ? { kind: 'faults', faults: answer.errors.map(toFault) }
    : { kind: 'ok', value: { policies: answer.policies, templates: answer.policy_templates } };
}

/** Reads one policy. A template, and anything but exactly one policy, is a fault. */
export function parsePolicy(text: string): CedarResult<PolicyJson> {
  const answer = policyToJson(text);
  return answer.type === 'failure'
    ? { kind: 'faults', faults: answer.errors.map(toFault) }
    : { kind: 'ok', value: answer.json };
}

/**
 * Checks policies against a schema; warnings count as faults, since each is a policy that can never fire as meant.
 * Of one place in a policy the first fault alone is told, and of a policy with errors no warning: they follow.
 */
export function validatePolicies(
  texts: Record<string, string>,
  schema: SchemaJson<string>,
): { policyId: string | null; fault: CedarFault }[] {
  const answer = validate({ schema, policies: { staticPolicies: texts } });
  if (answer.type === 'failure') {
    return answer.errors.map((error) => ({ policyId: null, fault: toFault(error) }));
  }
  const erroneous = new Set(answer.validationErrors.map(({ policyId }) => policyId));
  const warnings = answer.validationWarnings.filter(({ policyId }) => !erroneous.has(policyId));
  const found = new Map<string, { policyId: string; fault: CedarFault }>();
  for (const { policyId, error } of [...answer.validationErrors, ...warnings]) {
    const fault = toFault(error);
    const key = JSON.stringify([policyId, fault.start ?? fault.message]);
    if (!found.has(key))
      found.set(key, { policyId, fault: { ...fault, message: withoutPolicy(fault.message) } });
  }
  return [
    ...found.values(),
    ...answer.otherWarnings.map((error) => ({ policyId: null, fault: toFault(error) })),
  ];
}

/** The validator begins each message with the policy's id, which every problem names anyway. */
function withoutPolicy(message: string): string {
  return message.replace(/^for policy `[^`]*`[,:] /, '');
}

/**
 * Parses policies once, under a name. Cedar keeps prepared sets for the whole thread, and has no call that gives one
 * back: preparing others under the same name replaces, and frees, those that were there.
 */
export function preparePolicies(
  name: string,
  policies: Record<string, string | PolicyJson>,
): CedarResult<null> {
  const answer = preparsePolicySet(name, { staticPolicies: policies });
  return answer.type === 'failure'
    ? { kind: 'faults', faults: answer.errors.map(toFault) }
    : { kind: 'ok', value: null };
}

/** Asks Cedar about one call under a prepared set. Never throws: what goes wrong is `failed` (FAIL CLOSED). */
export function evaluate(preparedName: string, call: CedarCall): CedarAnswer {
  try {
    return readAnswer(
      statefulIsAuthorized({ ...call, preparsedPolicySetId: preparedName, validateRequest: false }),
    );
  } catch (error) {
    return { kind: 'failed', cause: String(error) };
  }
}

function readAnswer(answer: AuthorizationAnswer): CedarAnswer {
  if (answer.type !== 'success') {
    return { kind: 'failed', cause: answer.errors.map(({ message }) => message).join('; ') };
  }
  const { decision, diagnostics } = answer.response;
  const reason = diagnostics.reason.toSorted();
  if (diagnostics.errors.length > 0) {
    return { kind: 'erred', decision, reason, errors: diagnostics.errors.map((e) => e.policyId).toSorted() };
  }
  return { kind: 'answered', decision, reason };
}

function toFault(error: DetailedError): CedarFault {
  const label = error.sourceLocations?.[0];
  const expected = label?.label ? `: ${label.label}` : '';
  return { message: `${error.message}${expected}`, help: error.help, start: label?.start ?? null };
}

/** Writes policies anew in Cedar's own form, comments kept. Blank lines beside comments are not. */
export function formatPolicyText(text: string): CedarResult<string> {
  const answer = formatPolicies({ policyText: text });
  return answer.type === 'failure'
    ? { kind: 'faults', faults: answer.errors.map(toFault) }
    : { kind: 'ok', value: answer.formatted_policy };
}
