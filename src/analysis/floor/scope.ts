import type { Word } from '../command/analysis.ts';
import { SOME, UNKNOWN, WILD } from './marks.ts';
import type { Ground } from './protected_paths.ts';

/** How much text expansion may yield for one call, so that `B=$A$A; C=$B$B …` stays linear. */
export interface Budget {
  left: number;
  /** What may be looked at roughly, in characters, once nothing is left. Past this, what cannot be told is refused. */
  reserve: number;
}

/** What a variable may hold: values, and words to expand where it is used. */
export interface Binding {
  values: readonly string[];
  words: readonly Word[];
}

/** What a shell knows where a command stands. A scope that another shell gets reads through to its parent. */
export interface Scope extends Ground {
  parent: Scope | null;
  variables: Map<string, Binding>;
  folders: readonly (string | null)[];
  budget: Budget;
  /** Whether the shell ends at the first command that fails, as after `set -e`. */
  failsFast: boolean;
  /** How many texts within texts led here. */
  depth: number;
}

/** How many texts within texts are looked into: beyond what the analysis itself unwrapped. */
const DEPTH_MAX = 6;

export function isTooDeep({ depth }: Scope): boolean {
  return depth >= DEPTH_MAX;
}

/** A home that nobody stated: the folder of some user. */
const SOME_HOME = `/home/${SOME}`;

/** What shells and login set, and so is never empty. */
const NEVER_EMPTY = new Set([
  '0',
  '#',
  '?',
  '$',
  '!',
  'USER',
  'LOGNAME',
  'UID',
  'EUID',
  'PPID',
  'RANDOM',
  'SECONDS',
  'LINENO',
  'BASHPID',
  'HOSTNAME',
  'HOSTTYPE',
  'OSTYPE',
  'SHELL',
  'BASH',
]);

function openingValues(name: string, scope: Scope): readonly string[] {
  if (name === 'HOME') return [scope.home ?? SOME_HOME];
  if (name === 'PWD') return scope.folders.map((folder) => folder ?? `/${SOME}`);
  if (name === 'IFS') return [' '];
  if (name === 'PATH') return ['/usr/bin:/bin'];
  return [NEVER_EMPTY.has(name) ? SOME : UNKNOWN];
}

const noWords: readonly Word[] = [];

/** What a variable may hold here. */
export function lookUp(name: string, scope: Scope): Binding {
  for (let place: Scope | null = scope; place !== null; place = place.parent) {
    const bound = place.variables.get(name);
    if (bound !== undefined) return bound;
  }
  return { values: openingValues(name, scope), words: noWords };
}

/** A scope for a shell that this one starts: it hears of nothing that the new one does. */
export function openScope(parent: Scope): Scope {
  return { ...parent, parent, variables: new Map() };
}

/** The scope of a whole command. */
export function openingScope(
  call: { cwd: string | null; env: Record<string, string> },
  budget: Budget,
): Scope {
  const variables = new Map<string, Binding>();
  for (const [name, value] of Object.entries(call.env))
    variables.set(name, { values: [value], words: noWords });
  const home = call.env.HOME ?? null;
  return { parent: null, variables, folders: [call.cwd], home, budget, failsFast: false, depth: 0 };
}

/** How many values of one variable are kept side by side. */
const VALUES_MAX = 64;

/**
 * Gives a variable a value. Where it is not sure that the assignment runs, the values that it was given before stay
 * beside the new one.
 */
export function assign(scope: Scope, name: string, values: readonly string[], isSure: boolean): void {
  const before = lookUp(name, scope);
  const stay = isSure ? [] : before.values.filter((value) => value !== UNKNOWN && value !== SOME);
  const all = [...new Set([...stay, ...values])];
  const kept = all.length > VALUES_MAX ? [...all.slice(0, VALUES_MAX), WILD] : all;
  scope.variables.set(name, { values: kept, words: before.words });
}
