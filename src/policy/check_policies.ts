import { findAnnotationFaults, isPolicyId, readPolicyFacts } from './annotations.ts';
import { type CedarFault, parsePolicy } from './cedar.ts';
import { placeOfByte } from './line_index.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { findForbiddenCharacter } from './policy_text.ts';
import type { LoadedPolicy } from './slices.ts';

/**
 * Reads each policy by itself: its id, its characters, its syntax and its annotations. Lines and columns of
 * problems are those of the policy's own text. Stops beyond so many problems: nobody reads more.
 */
export function readPolicies(
  texts: Readonly<Record<string, string>>,
  problemsMax: number,
): { policies: LoadedPolicy[]; problems: PolicySetProblem[] } {
  const policies: LoadedPolicy[] = [];
  const problems: PolicySetProblem[] = [];
  for (const id of Object.keys(texts).toSorted()) {
    const read = readPolicy(id, texts[id] ?? '');
    if (read.kind === 'policy') policies.push(read.policy);
    else problems.push(...read.problems);
    if (problems.length > problemsMax) break;
  }
  return { policies, problems };
}

/** A fault of Cedar's in a policy, as a problem. */
export function toPolicyProblem(policyId: string, text: string, fault: CedarFault): PolicySetProblem {
  const place = fault.start === null ? {} : placeOfByte(text, fault.start);
  return problem(fault.message, fault.help, { policyId, ...place });
}

type ReadPolicy =
  | { kind: 'policy'; policy: LoadedPolicy }
  | { kind: 'problems'; problems: PolicySetProblem[] };

function readPolicy(id: string, text: string): ReadPolicy {
  const refuse = (message: string, help: string): ReadPolicy => ({
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
    return { kind: 'problems', problems: parsed.faults.map((fault) => toPolicyProblem(id, text, fault)) };
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
