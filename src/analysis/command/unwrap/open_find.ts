import type { Word } from '../analysis.ts';
import { unknownCommand } from './open_wrapper.ts';
import { replaceIn } from './open_xargs.ts';
import { type Opener, type Outcome, runWords } from './outcome.ts';
import { isOneWord } from './word_tools.ts';

const RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/**
 * `find … -exec command {} ;`, as often as it stands there. A word that could turn into several could bring a
 * primary of its own. (POSIX XCU find; `{}` counts anywhere in a word, as GNU has it.)
 */
export const openFind: Opener = ({ words }) => {
  const outcomes: Outcome[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (!isOneWord(word) && mayBeRun(word)) outcomes.push(unknownCommand());
    if (word.value === null || !RUNS.has(word.value)) continue;
    const end = endOf(words, at + 1);
    const command = replaceIn(words.slice(at + 1, end ?? words.length), '{}');
    if (command.length > 0) outcomes.push(runWords(command));
    if (end === null) return [...outcomes, unknownCommand()];
    at = end;
  }
  return outcomes;
};

/** Globs give names of files, which start as written unless the glob stands first. */
function mayBeRun({ pieces }: Word): boolean {
  return pieces.some(({ kind }) => kind !== 'glob' && kind !== 'literal' && kind !== 'tilde');
}

/** The index of `;`, or of `+` after `{}`. */
function endOf(words: readonly Word[], from: number): number | null {
  for (let at = from; at < words.length; at += 1) {
    const value = words[at]?.value;
    if (value === ';' || (value === '+' && words[at - 1]?.value === '{}')) return at;
  }
  return null;
}
