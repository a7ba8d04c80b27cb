import { type CedarFault, parsePolicy, splitPolicies } from './cedar.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';

/** One policy as it stands in a text, with its place. */
export interface PolicySource {
  id: string;
  text: string;
  source: string;
  /** Line it begins at, counted from 1. */
  line: number;
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
 * Splits a text into its policies by `@id`, with the line each begins at. What is no policy with an id of its
 * own is a problem; the other checks are those of the whole set.
 */
export function splitPolicyText(
  rawText: string,
  source: string,
): { policies: PolicySource[]; problems: PolicySetProblem[] } {
  const text = rawText.replaceAll('\r\n', '\n');
  const forbidden = findForbiddenCharacter(text);
  if (forbidden !== undefined) {
    const help = 'Remove it; what a person reads must be what is evaluated.';
    const message = 'the text has a control, bidi or invisible character';
    return { policies: [], problems: [problem(message, help, { source, ...placeOf(text, forbidden) })] };
  }
  const parts = splitPolicies(text);
  if (parts.kind === 'faults') {
    return { policies: [], problems: parts.faults.map((fault) => parseProblem(fault, text, source)) };
  }
  const templates = parts.value.templates.map((part) =>
    problem(
      'templates are not supported',
      'Write one policy for each principal or resource, or use groups.',
      {
        source,
        ...placeOf(text, text.indexOf(part)),
      },
    ),
  );
  const located = locate(text, parts.value.policies);
  const read = located.map(({ part, start }) => readSource(part, { source, ...placeOf(text, start) }));
  return {
    policies: read.flatMap((one) => (one.kind === 'policy' ? [one.policy] : [])),
    problems: [...templates, ...read.flatMap((one) => (one.kind === 'problem' ? [one.problem] : []))],
  };
}

interface Place {
  source: string;
  line: number;
  column: number;
}

function readSource(
  text: string,
  place: Place,
): { kind: 'policy'; policy: PolicySource } | { kind: 'problem'; problem: PolicySetProblem } {
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') {
    const message = parsed.faults.map((fault) => fault.message).join('; ');
    return { kind: 'problem', problem: problem(message, null, place) };
  }
  const id = parsed.value.annotations?.id;
  if (typeof id !== 'string') {
    const help = 'Begin it with @id("a-kebab-case-name"), unique in the set.';
    return { kind: 'problem', problem: problem('policy has no `@id`', help, place) };
  }
  return { kind: 'policy', policy: { id, text, source: place.source, line: place.line } };
}

/** Cedar returns the parts as they were written, in an order of its own: equal parts are found one after another. */
function locate(text: string, parts: readonly string[]): { part: string; start: number }[] {
  const searchFrom = new Map<string, number>();
  const located = parts.map((part) => {
    const start = text.indexOf(part, searchFrom.get(part) ?? 0);
    searchFrom.set(part, start + part.length);
    return { part, start };
  });
  return located.toSorted((a, b) => a.start - b.start);
}

function parseProblem(fault: CedarFault, text: string, source: string): PolicySetProblem {
  const place = fault.start === null ? {} : placeOf(text, utf16Offset(text, fault.start));
  return problem(fault.message, fault.help, { source, ...place });
}

function utf16Offset(text: string, byteOffset: number): number {
  const bytes = new TextEncoder().encode(text).subarray(0, byteOffset);
  return new TextDecoder().decode(bytes).length;
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { line, column: offset - before.lastIndexOf('\n') };
}
