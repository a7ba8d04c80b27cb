import type { Word } from '../command/analysis.ts';
import { SOME, UNKNOWN } from './marks.ts';
import { type RoughToken, readRoughly } from './read_roughly.ts';
import { lookUp, type Scope } from './scope.ts';

const WORDS_MAX = 1024;
/** `$1` to `$9`. */
const POSITIONS = 9;

function wordsFrom(tokens: readonly RoughToken[], start: number, most = WORDS_MAX): Word[] {
  const words: Word[] = [];
  for (let at = start; at < tokens.length && words.length < most; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'word') break;
    words.push(token.word);
  }
  return words;
}

function valueAt(tokens: readonly RoughToken[], at: number): string | null {
  const token = tokens[at];
  return token?.kind === 'word' ? token.word.value : (token?.text ?? null);
}

/** `for NAME in WORDS`: the words that a variable runs through. */
function loopAt(tokens: readonly RoughToken[], at: number): { name: string; words: Word[] } | null {
  const keyword = valueAt(tokens, at);
  if (keyword !== 'for' && keyword !== 'select') return null;
  const name = valueAt(tokens, at + 1);
  const isLoop = name !== null && valueAt(tokens, at + 2) === 'in';
  return isLoop ? { name, words: wordsFrom(tokens, at + 3) } : null;
}

/** The names of the functions that are defined here. */
function functionsOf(tokens: readonly RoughToken[]): Set<string> {
  const names = new Set<string>();
  for (let at = 0; at < tokens.length; at += 1) {
    const isHead = valueAt(tokens, at + 1) === '(' && valueAt(tokens, at + 2) === ')';
    const name =
      valueAt(tokens, at) === 'function' ? valueAt(tokens, at + 1) : isHead ? valueAt(tokens, at) : null;
    if (name !== null) names.add(name);
  }
  return names;
}

/** The words that differ: a loop through the same word again tells nothing. */
function distinct(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.text, word])).values()].slice(0, WORDS_MAX);
}

function bind(scope: Scope, name: string, words: readonly Word[]): void {
  const { values, words: before } = lookUp(name, scope);
  scope.variables.set(name, {
    values: values.filter((value) => value !== UNKNOWN && value !== SOME),
    words: distinct([...before, ...words]),
  });
}

/**
 * Binds what the shape of shell text binds: the variables of loops to their words, and, where functions are defined,
 * `$1` and so on to what these are called with.
 */
export function bindFromText(text: string, scope: Scope): void {
  const hasLoop = /\b(for|select)\b/.test(text);
  const hasFunction = /\(\s{0,4}\)|\bfunction\b/.test(text);
  if (!hasLoop && !hasFunction) return;
  const tokens = readRoughly(text);
  const functions = hasFunction ? functionsOf(tokens) : new Set<string>();
  const perPosition = new Map<string, Word[]>();
  for (let at = 0; at < tokens.length; at += 1) {
    const loop = hasLoop ? loopAt(tokens, at) : null;
    if (loop !== null) bind(scope, loop.name, loop.words);
    if (functions.size === 0 || !functions.has(valueAt(tokens, at) ?? '')) continue;
    for (const [index, word] of wordsFrom(tokens, at + 1, POSITIONS).entries()) {
      for (const name of [String(index + 1), '@', '*']) {
        const words = perPosition.get(name) ?? [];
        if (words.length < WORDS_MAX) words.push(word);
        perPosition.set(name, words);
      }
    }
  }
  for (const [name, words] of perPosition) bind(scope, name, words);
}
