import { type CedarFault, parsePolicy, splitPolicies } from './cedar.ts';
import { indexLines, type LineIndex, type Place, placeOfByte } from './line_index.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';

/** One policy as it stands in a text, with the place it begins at. */
export interface PolicySource extends Place {
  id: string;
  text: string;
  /** The file; null for a text that came from none. */
  source: string | null;
}

/**
 * Controls (but line breaks and tabs), bidi and zero-width characters, line and paragraph separators: a reader
 * of the text would not see what it says.
 */
const FORBIDDEN = /[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/u;

/** The place of the first character that a policy's text may not have, in UTF-16 code units. */
export function findForbiddenCharacter(text: string): number | undefined {
  return FORBIDDEN.exec(text)?.index;
}

/**
 * Splits a text into its policies by `@id`, each with the place it begins at. What is no policy with an id of its
 * own is a problem; the other checks are those of the whole set.
 */
export function splitPolicyText(
  rawText: string,
  source: string | null,
): { policies: PolicySource[]; problems: PolicySetProblem[] } {
  const text = rawText.replaceAll('\r\n', '\n');
  const lines = indexLines(text);
  const forbidden = findForbiddenCharacter(text);
  if (forbidden !== undefined) {
    const help = 'Remove it; what a person reads must be what is evaluated.';
    const message = 'the text has a control, bidi or invisible character';
    return { policies: [], problems: [problem(message, help, { source, ...lines.placeAt(forbidden) })] };
  }
  const parts = splitPolicies(text);
  if (parts.kind === 'faults') {
    return { policies: [], problems: parts.faults.map((fault) => parseProblem(fault, text, source)) };
  }
  const templates = parts.value.templates.map((part) => {
    const help = 'Write one policy for each principal or resource, or use groups.';
    const place = lines.placeAt(text.indexOf(part));
    return problem('templates are not supported', help, { source, ...place });
  });
  const located = locate(text, lines, parts.value.policies);
  const read = located.map(({ part, start }) => readSource(part, source, lines.placeAt(start)));
  return {
    policies: read.flatMap((one) => (one.kind === 'policy' ? [one.policy] : [])),
    problems: [...templates, ...read.flatMap((one) => (one.kind === 'problem' ? [one.problem] : []))],
  };
}

/** A problem for each policy whose id an earlier one has, in the same text or in another. */
export function findRepeatedIds(policies: readonly PolicySource[]): PolicySetProblem[] {
  const first = new Map<string, PolicySource>();
  return policies.flatMap(({ id: policyId, source, line, column, ...policy }) => {
    const earlier = first.get(policyId);
    if (earlier === undefined) {
      first.set(policyId, { id: policyId, source, line, column, ...policy });
      return [];
    }
    const where =
      earlier.source === null ? `in line ${earlier.line}` : `at ${earlier.source}:${earlier.line}`;
    const help = `Rename one; the other is ${where}.`;
    return [problem('its `@id` is taken', help, { policyId, source, line, column })];
  });
}

/**
 * An id as it is nearly always written, which spares parsing each of thousands of policies once more. Cedar has read
 * the text before, and the check of a set compares the id with what Cedar reads.
 */
const ID_FIRST = /^@id\("([a-z0-9-]+)"\)/;

function readSource(
  text: string,
  source: string | null,
  place: Place,
): { kind: 'policy'; policy: PolicySource } | { kind: 'problem'; problem: PolicySetProblem } {
  const writtenFirst = ID_FIRST.exec(text)?.[1];
  if (writtenFirst !== undefined) {
    return { kind: 'policy', policy: { id: writtenFirst, text, source, ...place } };
  }
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') {
    const message = parsed.faults.map((fault) => fault.message).join('; ');
    return { kind: 'problem', problem: problem(message, null, { source, ...place }) };
  }
  const id = parsed.value.annotations?.id;
  if (typeof id !== 'string') {
    const help = 'Begin it with @id("a-kebab-case-name"), unique in the set.';
    return { kind: 'problem', problem: problem('policy has no `@id`', help, { source, ...place }) };
  }
  return { kind: 'policy', policy: { id, text, source, ...place } };
}

/**
 * Cedar returns the parts as they were written, in an order of its own: equal parts are found one after another.
 * Others mostly begin a line, which is found at once; to search the whole text for each of thousands takes seconds.
 */
function locate(text: string, lines: LineIndex, parts: readonly string[]): { part: string; start: number }[] {
  const isRepeated = findRepeated(parts);
  const searchFrom = new Map<string, number>();
  const located = parts.map((part) => {
    const atLine = isRepeated.has(part)
      ? undefined
      : lines.linesLike(part).find((start) => text.startsWith(part, start));
    const start = atLine ?? text.indexOf(part, searchFrom.get(part) ?? 0);
    searchFrom.set(part, start + part.length);
    return { part, start };
  });
  return located.toSorted((a, b) => a.start - b.start);
}

function findRepeated(parts: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(parts.filter((part) => seen.size === seen.add(part).size));
}

function parseProblem(fault: CedarFault, text: string, source: string | null): PolicySetProblem {
  const place = fault.start === null ? {} : placeOfByte(text, fault.start);
  return problem(fault.message, fault.help, { source, ...place });
}
