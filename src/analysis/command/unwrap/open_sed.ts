import type { Word } from '../analysis.ts';
import { dynamic, hidden, type Opener } from './outcome.ts';
import { isHarmlessSed } from './sed_script.ts';
import { isKnownFile, isOneWord, isOperand, literalWord } from './word_tools.ts';

/** What `sed` was given. */
export interface SedArguments {
  scripts: Word[];
  files: Word[];
}

const LONG_FLAG =
  /^--(?:quiet|silent|debug|posix|regexp-extended|separate|sandbox|unbuffered|null-data|zero-terminated|follow-symlinks|binary|help|version|in-place(?:=.*)?|line-length=.*)$/s;

/** The scripts and script files of `sed`, whose options may follow operands; null when an option is not known. */
export function readSedArguments(words: readonly Word[]): SedArguments | null {
  const read: SedArguments = { scripts: [], files: [] };
  const operands: Word[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    const value = word?.value ?? null;
    if (word === undefined) break;
    if (value === '--') {
      for (const operand of words.slice(at + 1)) operands.push(operand);
      break;
    }
    if (value === null || !/^-./.test(value)) {
      // A file name that is not known could be an option only where nothing fixed stands before it.
      if (value === null && !isOperand(word) && !isOneWord(word)) return null;
      operands.push(word);
      continue;
    }
    const option = readOption(value);
    if (option === null) return null;
    if (option.name === '') continue;
    const taken = option.attached === '' ? words[at + 1] : literalWord(option.attached);
    if (option.attached === '') at += 1;
    if (taken === undefined) return null;
    if (option.name === 'e') read.scripts.push(taken);
    if (option.name === 'f') read.files.push(taken);
  }
  const [first] = operands;
  if (read.scripts.length === 0 && read.files.length === 0 && first !== undefined) read.scripts.push(first);
  return read;
}

/** The letter that takes a value, and what of it is attached; an empty name for none. */
function readOption(value: string): { name: string; attached: string } | null {
  const long = /^--(expression|file|line-length)(?:=(.*))?$/s.exec(value);
  if (long !== null) return { name: (long[1] ?? '').charAt(0), attached: long[2] ?? '' };
  if (value.startsWith('--')) return LONG_FLAG.test(value) ? { name: '', attached: '' } : null;
  for (let index = 1; index < value.length; index += 1) {
    const letter = value.charAt(index);
    if ('efl'.includes(letter)) return { name: letter, attached: value.slice(index + 1) };
    if (letter === 'i' || letter === 'I') return { name: '', attached: '' };
    if (!'nrEsuzab'.includes(letter)) return null;
  }
  return { name: '', attached: '' };
}

/** `sed` runs commands by `e` and by `s///e`. A script with a variable in it is judged by what is not known. */
export const openSed: Opener = ({ words }) => {
  const read = readSedArguments(words);
  if (read === null || !read.files.every(isKnownFile)) {
    return [dynamic('the script that `sed` would run is not known')];
  }
  if (read.scripts.some(({ value }) => value === null)) {
    return [dynamic('the script that `sed` would run is not known')];
  }
  // GNU joins scripts by newlines.
  const script = read.scripts.map(({ value }) => value).join('\n');
  return isHarmlessSed(script) ? [] : [hidden('a script of `sed` can run commands')];
};
