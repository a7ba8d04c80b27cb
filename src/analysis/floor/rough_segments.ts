import type { Redirection, Segment, Word } from '../command/analysis.ts';
import { type RoughToken, readRoughly } from './read_roughly.ts';

const RESERVED = new Set([
  ...[
    'if',
    'then',
    'else',
    'elif',
    'fi',
    'do',
    'done',
    'while',
    'until',
    'case',
    'esac',
    '{',
    '}',
    '!',
    'time',
  ],
  ...['in', 'function', 'select', 'coproc'],
]);
const REDIRECTS = /[<>]/;

interface Draft {
  words: Word[];
  redirections: Redirection[];
  operator: string | null;
}

function finish({ words, redirections, operator }: Draft): Segment[] {
  if (words.length === 0 && redirections.length === 0) return [];
  const isAssignment = (word: Word) => /^[A-Za-z_]\w*\+?=/.test(word.text);
  const first = words.findIndex((word) => !isAssignment(word));
  const leading = first === -1 ? words : words.slice(0, first);
  const assignments = leading.map((word) => {
    const at = word.text.indexOf('=');
    return {
      name: word.text.slice(0, at).replace(/\+$/, ''),
      value: cutStart(word, at + 1),
      text: word.text,
    };
  });
  return [
    {
      language: 'posix',
      text: words.map((word) => word.text).join(' '),
      words: first === -1 ? [] : words.slice(first),
      assignments,
      redirections,
      operator,
      inner: [],
      understood: false,
    },
  ];
}

/** The word without its first characters, which are plain text. */
function cutStart(word: Word, length: number): Word {
  const [first, ...rest] = word.pieces;
  if (first?.kind !== 'literal') return word;
  const pieces = [{ ...first, text: first.text.slice(length) }, ...rest];
  return { text: word.text.slice(length), value: word.value?.slice(length) ?? null, pieces };
}

/** Simple commands of any text, as near as they can be told without its grammar. */
export function readSegmentsRoughly(tokens: readonly RoughToken[]): Segment[] {
  const segments: Segment[] = [];
  let draft: Draft = { words: [], redirections: [], operator: null };
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined) break;
    if (token.kind === 'word') {
      if (draft.words.length > 0 || !RESERVED.has(token.word.text)) draft.words.push(token.word);
    } else if (REDIRECTS.test(token.text)) {
      const next = tokens[at + 1];
      const target = next?.kind === 'word' ? next.word : null;
      if (target !== null) at += 1;
      if (/^\d$/.test(draft.words.at(-1)?.text ?? '')) draft.words.pop();
      const body = token.text === '<<<' ? (target?.value ?? null) : null;
      draft.redirections.push({ operator: token.text, target, body });
    } else {
      segments.push(...finish(draft));
      draft = { words: [], redirections: [], operator: token.text };
    }
  }
  segments.push(...finish(draft));
  return segments;
}

/** How deep substitutions in substitutions are looked into. */
const DEPTH_MAX = 6;

/** The texts of substitutions in these words. */
function substitutionsOf(segments: readonly Segment[]): string[] {
  const words = segments.flatMap((segment) => [
    ...segment.words,
    ...segment.assignments.flatMap(({ value }) => value ?? []),
    ...segment.redirections.flatMap(({ target }) => target ?? []),
  ]);
  return words.flatMap((word) =>
    word.pieces.flatMap((piece) => {
      const inside = piece.kind === 'dynamic' ? substitutedText(piece.text) : null;
      return inside === null ? [] : [inside];
    }),
  );
}

/** What stands in `$(…)`, `<(…)` or backticks; null for arithmetic and braces. */
export function substitutedText(text: string): string | null {
  if (text.startsWith('`')) return text.slice(1, text.endsWith('`') ? -1 : undefined);
  if (!/^[$<>=]\(/.test(text) || text.startsWith('$((')) return null;
  return text.slice(2, text.endsWith(')') ? -1 : undefined);
}

/** What closes or hides a command from one who does not know how deep a text is quoted. */
const HIDING = /["'\\#]/g;
const NESTING = /\$\(|[`()]|[<=]\(|<<-?/g;
const BLANK_VALUE = /\$(?:IFS\b|\{IFS\})/g;

/**
 * Simple commands of a text as if nothing in it were quoted, escaped or a comment, and what is nested in it stood on
 * its own: whatever it may run stands among them, and more.
 */
export function readFlat(text: string): Segment[] {
  const flat = text.replaceAll(BLANK_VALUE, ' ').replaceAll(HIDING, '').replaceAll(NESTING, '\n');
  return readSegmentsRoughly(readRoughly(flat));
}

/** The same as without the grammar, with the commands of substitutions after those they stand in. */
export function readAllRoughly(text: string): Segment[] {
  const all: Segment[] = [];
  let texts = [text];
  for (let depth = 0; depth < DEPTH_MAX && texts.length > 0; depth += 1) {
    const found = texts.flatMap((one) => readSegmentsRoughly(readRoughly(one)));
    for (const segment of found) all.push(segment);
    texts = substitutionsOf(found);
  }
  for (const rest of texts) for (const segment of readFlat(rest)) all.push(segment);
  return all;
}
