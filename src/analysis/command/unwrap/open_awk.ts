import type { Word } from '../analysis.ts';
import { optionSpec, readOptions } from './options.ts';
import { dynamic, hidden, type Opener } from './outcome.ts';
import { isKnownFile } from './word_tools.ts';

const AWK = optionSpec(
  'bcCd::D::e:E:f:F:gGhi:IkL::l:MnNo::Op::PrsStv:V',
  `field-separator= assign= file= source= exec= include= load= posix traditional re-interval sandbox lint? version
   help csv characters-as-bytes optimize no-optimize non-decimal-data use-lc-numeric bignum`.replace(
    /\s+/g,
    ' ',
  ),
);
const FILES = new Set(['f', 'file', 'E', 'exec', 'i', 'include']);
const EXTENSIONS = new Set(['l', 'load', 'D', 'd']);

/** What `awk` was given. */
export interface AwkArguments {
  programs: Word[];
  files: Word[];
  loadsExtensions: boolean;
}

/** The programs and program files of `awk` (POSIX XCU awk); null when an option is not known. */
export function readAwkArguments(words: readonly Word[]): AwkArguments | null {
  const options = readOptions(words, 1, AWK);
  if (options === null) return null;
  const files: Word[] = [];
  const programs: Word[] = [];
  for (const [name, value] of options.seen) {
    if (value !== null && FILES.has(name)) files.push(value);
    if (value !== null && (name === 'e' || name === 'source')) programs.push(value);
  }
  const first = words[options.at];
  if (files.length === 0 && programs.length === 0 && first !== undefined) programs.push(first);
  return { programs, files, loadsExtensions: options.seen.some(([name]) => EXTENSIONS.has(name)) };
}

/**
 * `awk` runs commands by `system`, pipes, indirect calls and what it includes. That these stand in a string or a
 * regular expression is not looked at: a wrong guess there would hide one.
 */
export const openAwk: Opener = ({ words }) => {
  const read = readAwkArguments(words);
  if (read === null || !read.files.every(isKnownFile) || read.programs.some(({ value }) => value === null)) {
    return [dynamic('the program that `awk` would run is not known')];
  }

  const runs = read.programs.some(({ value }) => /system|@|\|/.test((value ?? '').replaceAll('||', '')));
  return runs || read.loadsExtensions ? [hidden('a program of `awk` can run commands')] : [];
};
