import type { Word } from '../analysis.ts';
import { isOneWord, isOperand, literalWord } from './word_tools.ts';

type Arity = 'flag' | 'value' | 'optional';

/** The options of a command whose first operand ends them (POSIX XBD 12.2, guidelines 3 to 10; GNU long options). */
export interface OptionSpec {
  short: ReadonlyMap<string, Arity>;
  long: ReadonlyMap<string, Arity>;
  /** `-10` is an option too. */
  takesNumbers: boolean;
}

/**
 * @param short as for getopt: a letter, then `:` when a value follows and `::` when one may be attached; `#` for
 *   options that are numbers.
 * @param long names, with `=` at the end when a value follows and `?` when one may be attached.
 */
export function optionSpec(short: string, long = ''): OptionSpec {
  const shorts = new Map<string, Arity>();
  for (const [, letter = '', colons] of short.matchAll(/([^:])(:{0,2})/g)) {
    shorts.set(letter, colons === '' ? 'flag' : colons === ':' ? 'value' : 'optional');
  }
  const longs = new Map<string, Arity>();
  for (const name of long.split(' ').filter((part) => part !== '')) {
    const arity = name.endsWith('=') ? 'value' : name.endsWith('?') ? 'optional' : 'flag';
    longs.set(name.replace(/[=?]$/, ''), arity);
  }
  return { short: shorts, long: longs, takesNumbers: shorts.has('#') };
}

export interface OptionsRead {
  /** Where the operands start. */
  at: number;
  /** Options by letter or name, in order, each with its value. */
  seen: [name: string, value: Word | null][];
}

/** Reads the options from `from` on; null when one is not known, and so what follows it is not. */
export function readOptions(words: readonly Word[], from: number, spec: OptionSpec): OptionsRead | null {
  const seen: OptionsRead['seen'] = [];
  let at = from;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return isOperand(word) ? { at, seen } : null;
    if (value === '--') return { at: at + 1, seen };
    if (!value.startsWith('-') || value === '-') return { at, seen };
    const used = value.startsWith('--')
      ? readLong(words, at, spec, seen)
      : readCluster(words, at, spec, seen);
    if (used === null) return null;
    at += used;
  }
  return { at, seen };
}

function readLong(
  words: readonly Word[],
  at: number,
  { long }: OptionSpec,
  seen: OptionsRead['seen'],
): number | null {
  const value = (words[at]?.value ?? '').slice(2);
  const equals = value.indexOf('=');
  const name = resolveLong(equals === -1 ? value : value.slice(0, equals), long);
  const arity = name === undefined ? undefined : long.get(name);
  if (name === undefined || arity === undefined) return null;
  if (equals !== -1) {
    seen.push([name, literalWord(value.slice(equals + 1))]);
    return arity === 'flag' ? null : 1;
  }
  return arity === 'value' ? readNext(words, at, name, seen) : pushFlag(name, seen);
}

/** GNU takes any beginning of a long option that is the beginning of no other. */
function resolveLong(name: string, long: OptionSpec['long']): string | undefined {
  if (long.has(name)) return name;
  const matches = [...long.keys()].filter((key) => key.startsWith(name));
  return matches.length === 1 ? matches[0] : undefined;
}

function readCluster(
  words: readonly Word[],
  at: number,
  { short, takesNumbers }: OptionSpec,
  seen: OptionsRead['seen'],
): number | null {
  const letters = (words[at]?.value ?? '').slice(1);
  if (takesNumbers && /^[-+]?\d+$/.test(letters)) return pushFlag('#', seen);
  for (let index = 0; index < letters.length; index += 1) {
    const letter = letters.charAt(index);
    const arity = short.get(letter);
    if (arity === undefined) return null;
    const attached = letters.slice(index + 1);
    if (arity === 'flag') {
      seen.push([letter, null]);
    } else if (attached !== '') {
      seen.push([letter, literalWord(attached)]);
      return 1;
    } else {
      return arity === 'value' ? readNext(words, at, letter, seen) : pushFlag(letter, seen);
    }
  }
  return 1;
}

function pushFlag(name: string, seen: OptionsRead['seen']): number {
  seen.push([name, null]);
  return 1;
}

/** An option's value in the word after it, which must stay one word. */
function readNext(
  words: readonly Word[],
  at: number,
  name: string,
  seen: OptionsRead['seen'],
): number | null {
  const next = words[at + 1];
  if (next === undefined || !isOneWord(next)) return null;
  seen.push([name, next]);
  return 2;
}
