import type { Piece, Word } from '../command/analysis.ts';
import { splitBraces } from './expand_braces.ts';
import { expandParameter } from './expand_parameter.ts';
import { globToMarks, hasMark, SOME, SPLIT, UNKNOWN, WILD } from './marks.ts';
import { readAsWord } from './read_roughly.ts';
import { type Binding, lookUp, type Scope } from './scope.ts';

/** What a substitution prints, where its text alone tells; given from outside, since it takes commands apart again. */
type ReadOutput = (text: string, scope: Scope) => string | null;

export interface Expander {
  scope: Scope;
  readOutput: ReadOutput;
  /** How many expansions led here: `$A` in the value of `$B`, braces in braces. */
  depth: number;
}

/** How many readings of one word are told apart. */
const READINGS_MAX = 1024;
const DEPTH_MAX = 6;
/** What one piece of one reading costs beside its characters. */
const PIECE_COST = 8;

function totalLength(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** An unquoted value: split at blanks, its glob characters live (POSIX XCU 2.6.5, 2.6.6). */
function unquoted(value: string): string {
  const marked = /[*?[]/.test(value) ? globToMarks(value) : value;
  return marked.replaceAll(/[ \t\n]+/g, SPLIT);
}

/** Every value that a binding may have, as patterns; what is used up counts as anything. */
function valuesOf({ values, words }: Binding, expander: Expander): string[] {
  if (words.length === 0) return [...values];
  if (expander.depth >= DEPTH_MAX) return [WILD];
  const deeper = { ...expander, depth: expander.depth + 1 };
  return [...values, ...words.flatMap((word) => expandWord(word, deeper))];
}

function expandVariable(piece: Extract<Piece, { kind: 'variable' }>, expander: Expander): string[] {
  const known = valuesOf(lookUp(piece.name, expander.scope), expander);
  const inner = (text: string) =>
    expander.depth >= DEPTH_MAX
      ? [WILD]
      : readings(readAsWord(text), { ...expander, depth: expander.depth + 1 });
  const values = piece.plain ? known : expandParameter(piece.text, known, inner);
  return piece.quoted ? values : values.map(unquoted);
}

function expandDynamic(text: string, expander: Expander): string[] {
  if (text.startsWith('{')) {
    if (!/,|\.\./.test(text)) return [text];
    const parts = splitBraces(text);
    // A sequence yields letters or numbers, none of which is a protected name.
    if (parts === null) return [text.includes(',') ? WILD : SOME];
    if (expander.depth >= DEPTH_MAX) return [WILD];
    const deeper = { ...expander, depth: expander.depth + 1 };
    return parts.flatMap((part) => readings(readAsWord(part), deeper));
  }
  // What a runner is to put in is named by its placeholder.
  if (!/^[$`<>=]/.test(text)) return [text];
  if (/^[<>=]\(|^\$\(\(|^\$\[/.test(text)) return [SOME];
  if (expander.depth >= DEPTH_MAX) return [UNKNOWN];
  const output = expander.readOutput(text, expander.scope);
  return [output === null ? UNKNOWN : unquoted(output.trim())];
}

function expandTilde(user: string, expander: Expander): string[] {
  if (user === '') return valuesOf(lookUp('HOME', expander.scope), expander);
  if (user === '+') return valuesOf(lookUp('PWD', expander.scope), expander);
  if (user === '-') return [UNKNOWN];
  return [user === 'root' ? '/root' : `/home/${user}`];
}

function expandPiece(piece: Piece, expander: Expander): string[] {
  switch (piece.kind) {
    case 'literal':
      return [piece.text];
    case 'glob':
      return [globToMarks(piece.text)];
    case 'tilde':
      return expandTilde(piece.user, expander);
    case 'variable':
      return expandVariable(piece, expander);
    case 'dynamic':
      return expandDynamic(piece.text, expander);
  }
}

/** Every reading of a word, blanks that would split it marked. */
function readings(word: Word, expander: Expander): string[] {
  const { budget } = expander.scope;
  let whole = [''];
  for (const piece of word.pieces) {
    const next = expandPiece(piece, expander);
    if (whole.length * next.length > READINGS_MAX) return [WILD];
    const only = next.length === 1 ? next[0] : undefined;
    if (only !== undefined && whole.length === 1) whole = [(whole[0] ?? '') + only];
    else whole = whole.flatMap((start) => next.map((end) => start + end));
    budget.left -= whole.length * PIECE_COST + (only?.length ?? totalLength(whole));
    if (budget.left < 0) return [WILD];
  }
  return whole;
}

/**
 * The words that a shell may make of a word, as patterns (see marks.ts): alternatives one after the other, since what
 * looks at them asks whether any could be meant.
 */
export function expandWord(word: Word, expander: Expander): string[] {
  if (word.value !== null && !hasMark(word.value)) return [word.value];
  const isWhole = word.text.startsWith('"') && word.pieces.some(({ kind }) => kind === 'dynamic');
  return readings(word, expander).flatMap((reading) => {
    if (!reading.includes(SPLIT)) return [reading];
    if (isWhole) return [reading.replaceAll(SPLIT, ' ')];
    return reading.split(SPLIT).filter((part) => part !== '');
  });
}
