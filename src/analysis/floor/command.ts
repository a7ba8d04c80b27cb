import type { Word } from '../command/analysis.ts';
import type { FloorRule } from './floor.ts';
import type { Ground } from './protected_paths.ts';

/** A simple command as a shell would run it: its words are patterns (see marks.ts). */
export interface Command {
  /** The last component of the executable, lower case, without `.exe`. */
  name: string;
  args: readonly string[];
  /** The words as written. */
  words: readonly Word[];
  ground: Ground;
  /** What it reads from a pipe, a here-document or a here-string, where that is known. */
  input: string | null;
  /** Whether it is run on each file below the paths that it is given, as `find` does. */
  onEveryFile: boolean;
}

/** What a command breaks, if it breaks anything. */
export type Rule = (command: Command) => FloorRule | null;

interface Arguments {
  options: string[];
  operands: string[];
}

/** Tells options from operands as GNU `getopt_long` does: anywhere before `--`. A lone `-` is an operand. */
export function splitOptions(args: readonly string[]): Arguments {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const isOption = (arg: string) => arg.startsWith('-') && arg !== '-';
  return {
    options: before.filter(isOption),
    operands: [...before.filter((arg) => !isOption(arg)), ...(end === -1 ? [] : args.slice(end + 1))],
  };
}

/** Whether an option is among these: a letter in a cluster, or a long name or what it may be abbreviated to. */
export function hasOption(
  options: readonly string[],
  letters: string,
  long: string,
  shortest: number,
): boolean {
  return options.some((option) => {
    if (!option.startsWith('--')) return [...letters].some((letter) => option.includes(letter));
    const [name = ''] = option.slice(2).split('=');
    return name.length >= shortest && long.startsWith(name);
  });
}

const HELP = new Set(['--help', '--version', '-help', '/?']);

/** Whether a command only says how it is used. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => HELP.has(arg));
}
