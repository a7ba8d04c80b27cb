import type { RulesProblem } from '../core/rules.ts';
import { formatPolicyText, parsePolicy } from './cedar.ts';
import { splitPolicyText } from './policy_text.ts';

export type FormattedFile =
  | { kind: 'formatted'; text: string }
  | { kind: 'refused'; problems: RulesProblem[] };

/** A comment, or a string that could be taken to hold one. */
const COMMENT_OR_STRING = /\/\/[^\n]*|"[^"\\]*(?:\\.[^"\\]*)*"/gs;

interface Comment {
  text: string;
  /** Where the line break after it stands. */
  end: number;
  /** Whether a blank line follows. */
  isParagraph: boolean;
}

/**
 * A policy file in Cedar's own form, comments and the blank lines after them kept. Refused where that would change
 * what a policy says or lose a comment, and for a file that does not parse; problems name `source`.
 */
export function formatPolicyFile(rawText: string, source: string): FormattedFile {
  const text = rawText.replaceAll('\r\n', '\n');
  const split = splitPolicyText(text, source);
  if (split.problems.length > 0) return { kind: 'refused', problems: split.problems };
  const answer = formatPolicyText(text);
  if (answer.kind === 'faults') {
    return refuse(source, answer.faults.map(({ message }) => message).join('; '));
  }
  const formatted = restoreParagraphs(findComments(text), answer.value);
  const isSame =
    formatted !== undefined && computeMeaning(formatted, source) === computeMeaning(text, source);
  return isSame
    ? { kind: 'formatted', text: formatted }
    : refuse(source, 'its form cannot be changed without changing what it says or losing a comment');
}

function refuse(source: string, message: string): FormattedFile {
  const help = 'It was left as it is; format it by hand.';
  const problem = { policyId: null, source, line: null, column: null, pointer: null, message, help };
  return { kind: 'refused', problems: [problem] };
}

function findComments(text: string): Comment[] {
  return [...text.matchAll(COMMENT_OR_STRING)]
    .filter(([found]) => found.startsWith('//'))
    .map((match) => {
      const [found] = match;
      const end = match.index + found.length;
      return { text: found.trimEnd(), end, isParagraph: /^\n[ \t]*\n/.test(text.slice(end, end + 200)) };
    });
}

/** The formatted text with the blank lines that stood after comments; undefined when a comment is lost or moved. */
function restoreParagraphs(comments: readonly Comment[], formatted: string): string | undefined {
  const trimmed = formatted.trim();
  const text = trimmed === '' ? '' : `${trimmed}\n`;
  const kept = findComments(text);
  if (kept.length !== comments.length || kept.some((one, index) => one.text !== comments[index]?.text)) {
    return undefined;
  }
  let restored = '';
  let from = 0;
  for (const [index, { end, isParagraph }] of kept.entries()) {
    const isLast = end + 1 >= text.length;
    if (comments[index]?.isParagraph !== true || isParagraph || isLast) continue;
    restored += `${text.slice(from, end)}\n`;
    from = end;
  }
  return restored + text.slice(from);
}

/** All policies of a text as Cedar reads them, annotations included, as a text to compare; their order means nothing. */
function computeMeaning(text: string, source: string): string {
  const { policies, problems } = splitPolicyText(text, source);
  const read = policies.map((policy) => {
    const parsed = parsePolicy(policy.text);
    return parsed.kind === 'ok' ? JSON.stringify(parsed.value) : `faulty ${policy.text}`;
  });
  return JSON.stringify([read.toSorted(), problems.length]);
}
