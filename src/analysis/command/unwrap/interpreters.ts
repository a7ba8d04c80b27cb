import type { Word } from '../analysis.ts';
import { versionStart } from '../command_name.ts';
import { isOneWord, isOperand, literalWord } from './word_tools.ts';

/** How an interpreter takes its options. */
interface InterpreterSpec {
  /** Letters whose value is code. */
  code: string;
  /** Letters with a value. */
  values: string;
  /** Letters whose value is a file that runs too. */
  files: string;
  /** Letters after which a module runs, and its arguments follow. */
  modules: string;
  /** Letters with which nothing runs. */
  nothing: string;
  longCode: readonly string[];
  longValues: readonly string[];
  longFiles: readonly string[];
  /** First operands that are subcommands: those that run the operand after them, and whether another is fine. */
  subcommands: readonly string[] | null;
}

function interpreter(more: Partial<InterpreterSpec>): InterpreterSpec {
  return {
    ...{ code: '', values: '', files: '', modules: '', nothing: '' },
    ...{ longCode: [], longValues: [], longFiles: [], subcommands: null },
    ...more,
  };
}

const NODE = interpreter({
  code: 'ep',
  values: 'C',
  files: 'r',
  nothing: 'v',
  longCode: ['--eval', '--print', '--interactive'],
  longValues: ['--conditions', '--input-type', '--title', '--test-name-pattern'],
  longFiles: ['--require', '--import', '--loader', '--experimental-loader', '--env-file'],
});

const SPECS: Readonly<Record<string, InterpreterSpec>> = {
  python: interpreter({ code: 'c', values: 'WX', modules: 'm', nothing: 'V' }),
  pypy: interpreter({ code: 'c', values: 'WX', modules: 'm', nothing: 'V' }),
  perl: interpreter({ code: 'eEnpMmd', values: 'I', nothing: 'v' }),
  ruby: interpreter({ code: 'enp', values: 'IECKX', files: 'r' }),
  node: NODE,
  nodejs: NODE,
  php: interpreter({ code: 'rRBE', values: 'dg', files: 'cfFz', nothing: 'vim' }),
  lua: interpreter({ code: 'e', files: 'l', nothing: 'v' }),
  luajit: interpreter({ code: 'e', values: 'jOb', files: 'l', nothing: 'v' }),
  osascript: interpreter({ code: 'e', values: 'ls' }),
  rscript: interpreter({ code: 'e' }),
  julia: interpreter({
    code: 'eE',
    values: 'CptO',
    files: 'JL',
    nothing: 'v',
    longCode: ['--eval', '--print'],
    longFiles: ['--load', '--sysimage'],
  }),
  tclsh: interpreter({}),
  wish: interpreter({}),
  expect: interpreter({ code: 'c', files: 'fb' }),
  groovy: interpreter({ code: 'e', values: 'cDa' }),
  scala: interpreter({ code: 'e' }),
  elixir: interpreter({ code: 'e', files: 'r', nothing: 'v', longCode: ['--eval', '--rpc-eval'] }),
  guile: interpreter({ code: 'c', files: 'l', values: 'Lx' }),
  ghci: interpreter({ code: 'e' }),
  deno: interpreter({
    subcommands: ['run', 'test', 'bench', 'serve'],
    longValues: ['--config', '--import-map'],
  }),
  bun: interpreter({
    code: 'ep',
    files: 'r',
    longCode: ['--eval', '--print'],
    longFiles: ['--preload', '--require', '--import'],
    subcommands: ['run', 'test', 'x'],
  }),
};

/** The interpreter that a command's name means, whatever its version: `python3.12` is `python`. */
export function interpreterNamed(name: string): string | undefined {
  const plain = withoutVersion(name);
  return Object.hasOwn(SPECS, plain) ? plain : undefined;
}

/** Without a version such as `3.12`, `-3`, `.5.36` or `3.13t` and the `w` of Windows before it. */
function withoutVersion(name: string): string {
  const end = /[a-z]$/.test(name) ? name.length - 1 : name.length;
  let start = versionStart(name, end);
  if (start === end) return name;
  if (/[-.]/.test(name.charAt(start - 1))) start -= 1;
  return name.slice(0, name.charAt(start - 1) === 'w' ? start - 1 : start);
}

export type InterpreterArguments =
  | { kind: 'code' }
  | { kind: 'input' }
  | { kind: 'nothing' }
  /** Files that run, in order; none for a module. */
  | { kind: 'files'; files: Word[] };

/** What an interpreter would run by its words; null when an option is not known. */
export function readInterpreterArguments(name: string, words: readonly Word[]): InterpreterArguments | null {
  const spec = SPECS[name] ?? interpreter({});
  const files: Word[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const value = word.value ?? '';
    if (word.value === null && !isOperand(word) && !isOneWord(word)) return null;
    if (value === '-') return { kind: 'input' };
    if (value === '--') return operands(spec, files, words.slice(at + 1));
    if (!value.startsWith('-')) return operands(spec, files, words.slice(at));
    const option = value.startsWith('--') ? readLong(spec, value) : readLetters(spec, value.slice(1));
    if (option === null || option === 'code') return option === null ? null : { kind: 'code' };
    if (option === 'nothing') return { kind: 'nothing' };
    if (option === 'module') return { kind: 'files', files };
    if (typeof option === 'string') continue;
    const next = option.attached ?? words[at + 1];
    if (option.attached === null) at += 1;
    if (next === undefined) return null;
    // A setting of `php` names files that run too.
    if (name === 'php' && /_file|extension|sendmail/.test(next.value ?? '_file')) return null;
    if (option.isFile) files.push(next);
  }
  return files.length > 0 && name === 'php' ? { kind: 'files', files } : { kind: 'input' };
}

function operands(spec: InterpreterSpec, files: Word[], rest: readonly Word[]): InterpreterArguments | null {
  const [first, ...others] = rest;
  if (first === undefined) return { kind: 'input' };
  if (spec.subcommands === null || /[./]/.test(first.value ?? '')) {
    return { kind: 'files', files: [...files, first] };
  }
  if (first.value === null) return null;
  if (first.value === 'eval' || first.value === 'repl') return { kind: 'code' };
  if (!spec.subcommands.includes(first.value)) return { kind: 'files', files };
  const script = others.find(isOperand);
  return { kind: 'files', files: script === undefined ? files : [...files, script] };
}

type OptionRead = 'flag' | 'code' | 'module' | 'nothing' | { attached: Word | null; isFile: boolean };

function readLetters(spec: InterpreterSpec, letters: string): OptionRead | null {
  for (let index = 0; index < letters.length; index += 1) {
    const letter = letters.charAt(index);
    if (spec.code.includes(letter)) return 'code';
    if (spec.modules.includes(letter)) return 'module';
    if (spec.nothing.includes(letter)) return 'nothing';
    if (spec.values.includes(letter) || spec.files.includes(letter)) {
      const rest = letters.slice(index + 1);
      const attached = rest === '' ? null : literalWord(rest);
      return { attached, isFile: spec.files.includes(letter) };
    }
    if (!/[A-Za-z0-9]/.test(letter)) return null;
  }
  return 'flag';
}

/** Long options whose value is attached, or that are known to have none. */
const LONG_FLAG =
  /^--(?:inspect(?:-brk)?|trace-[a-z-]+|experimental-(?!config|default-config)[a-z-]+|max-[a-z-]+|stack-[a-z-]+|unhandled-rejections|no-[a-z-]+|enable-source-maps|test|watch|check|harmony[a-z-]*|allow-[a-z-]+|prof|expose-gc|use-[a-z-]+|quiet|reload|unstable[a-z-]*|cached-only|verbose|yjit|jit|disable-[a-z-]+|enable-[a-z-]+|bun|hot|smol|silent|vanilla|slave)(?:=|$)/;

function readLong(spec: InterpreterSpec, value: string): OptionRead | null {
  const equals = value.indexOf('=');
  const name = equals === -1 ? value : value.slice(0, equals);
  if (name === '--version' || name === '--help') return 'nothing';
  if (spec.longCode.includes(name)) return 'code';
  const isFile = spec.longFiles.includes(name);
  if (isFile || spec.longValues.includes(name)) {
    const attached = equals === -1 ? null : literalWord(value.slice(equals + 1));
    return { attached, isFile };
  }
  return LONG_FLAG.test(value) ? 'flag' : null;
}
