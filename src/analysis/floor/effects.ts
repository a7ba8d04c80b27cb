import type { Segment } from '../command/analysis.ts';
import type { Command } from './command.ts';
import { type Expander, expandWord } from './expand_word.ts';
import { foldersAfter } from './folders.ts';
import { assign, openScope, type Scope } from './scope.ts';
import { isShell } from './scripts_of.ts';

const CHANGES_FOLDER = new Set(['cd', 'chdir', 'pushd', 'set-location', 'sl']);
const DECLARES = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
/** Runners whose command runs in the same shell. */
const SAME_SHELL = new Set(['eval', 'builtin', 'command', 'source', '.', 'trap', 'noglob', 'time']);
const PASSES_VARIABLES = new Set(['env', 'sudo', 'doas']);
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/;

function assignAll(args: readonly string[], scope: Scope): void {
  for (const arg of args) {
    const [, name, value] = ASSIGNMENT.exec(arg) ?? [];
    if (name !== undefined && value !== undefined) assign(scope, name, [value], true);
  }
}

/** `env -C DIR`, `sudo -D DIR`: where the command runs. */
function folderOption({ name, args }: Command): string | null {
  const [short, long] = name === 'env' ? ['-C', '--chdir'] : name === 'sudo' ? ['-D', '--chdir'] : [];
  if (short === undefined || long === undefined) return null;
  const at = args.findIndex((arg) => arg === short || arg === long);
  if (at !== -1) return args[at + 1] ?? null;
  const joined = args.find((arg) => arg.startsWith(`${long}=`));
  if (joined !== undefined) return joined.slice(long.length + 1);
  const cluster = args.find((arg) => arg.startsWith(short) && arg.length > 2);
  return cluster === undefined ? null : cluster.slice(2);
}

/** `$0`, `$1` and so on of `sh -c SCRIPT name arguments`. */
function positionsOf({ name, args }: Command): string[] {
  if (!isShell(name)) return [];
  const at = args.findIndex((arg) => /^-[a-zA-Z]*c$/.test(arg));
  return at === -1 ? [] : args.slice(at + 2);
}

function setPositions(values: readonly string[], first: number, scope: Scope): void {
  for (const [index, value] of values.slice(0, 16).entries())
    assign(scope, String(index + first), [value], true);
  const listed = first === 0 ? values.slice(1) : values;
  if (values.length > 0) for (const name of ['@', '*']) assign(scope, name, listed, true);
}

/** The scope in which what a command runs in turn stands. */
export function innerScope(command: Command, segment: Segment, scope: Scope, expander: Expander): Scope {
  if (SAME_SHELL.has(command.name)) return scope;
  const folder = folderOption(command);
  const positions = positionsOf(command);
  const passes = PASSES_VARIABLES.has(command.name);
  const inner = openScope(scope);
  for (const { name, value } of segment.assignments) {
    if (value !== null) assign(inner, name, expandWord(value, expander), true);
  }
  if (passes) assignAll(command.args, inner);
  if (folder !== null) inner.folders = foldersAfter([folder], undefined, scope);
  setPositions(positions, 0, inner);
  return inner;
}

/** Whether a command of this name changes what those after it in its shell run in. */
export function changesShell(name: string): boolean {
  return CHANGES_FOLDER.has(name) || DECLARES.has(name) || name === 'set';
}

/** What a command changes for those after it in its shell. */
export function changeScope({ name, args }: Command, { words }: Segment, scope: Scope): void {
  if (CHANGES_FOLDER.has(name)) scope.folders = foldersAfter(args, words[1], scope);
  if (DECLARES.has(name)) assignAll(args, scope);
  if (name !== 'set') return;
  if (args.some((arg) => /^-[a-z]*e/.test(arg))) scope.failsFast = true;
  const end = args.indexOf('--');
  if (end !== -1) setPositions(args.slice(end + 1), 1, scope);
}
