import type { Rule } from './command.ts';
import { ruleFor, worstPlace } from './delete_rules.ts';

/** What `find` hands on, or deletes. */
export interface Found {
  /** Where it starts. */
  roots: string[];
  /** Whether some action meets every file below: no test stands before it that leaves files out. */
  deletesEvery: boolean;
  runsOnEvery: boolean;
  printsEvery: boolean;
}

/** Tests that leave out files by what they are called, or what they are; the others let nearly every file through. */
const RESTRICTING = new Set([
  ...[
    'name',
    'iname',
    'path',
    'ipath',
    'wholename',
    'iwholename',
    'regex',
    'iregex',
    'lname',
    'ilname',
    'user',
  ],
  ...[
    'group',
    'uid',
    'gid',
    'size',
    'empty',
    'newer',
    'anewer',
    'cnewer',
    'mtime',
    'atime',
    'ctime',
    'mmin',
    'amin',
  ],
  ...[
    'cmin',
    'perm',
    'inum',
    'links',
    'samefile',
    'nouser',
    'nogroup',
    'fstype',
    'used',
    'executable',
    'false',
  ],
]);
const WITHOUT_VALUE = new Set(['empty', 'nouser', 'nogroup', 'executable', 'false']);
const RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** The values of a test that every name passes. */
const PASSES_ALL = /^[*./\uE002?]*[*\uE002][*./\uE002?]*$/;

function restricts(test: string, value: string | undefined): boolean {
  const name = test.slice(1);
  if (!RESTRICTING.has(name) && !name.startsWith('newer')) return false;
  return WITHOUT_VALUE.has(name) || value === undefined || !PASSES_ALL.test(value);
}

/** One `( … )` of the expression: whether files were left out so far, in this alternative and in all before it. */
interface Group {
  narrowed: boolean;
  allNarrowed: boolean;
  negated: boolean;
}

function openGroup(negated: boolean): Group {
  return { narrowed: false, allNarrowed: true, negated };
}

/** How deep groups are followed; in a deeper one nothing is taken to leave files out. */
const DEPTH_MAX = 64;

/** Where the command of `-exec` ends. */
function endOfCommand(args: readonly string[], start: number): number {
  for (let at = start; at < args.length; at += 1) {
    const arg = args[at];
    if (arg === ';' || arg === '\\;' || (arg === '+' && args[at - 1] === '{}')) return at;
  }
  return args.length;
}

/** Where the paths end and the expression starts. */
function countRoots(args: readonly string[]): { from: number; to: number } {
  let from = 0;
  while (/^-([HLP]|O\d*)$/.test(args[from] ?? '') || args[from] === '-D') from += args[from] === '-D' ? 2 : 1;
  let to = from;
  while (to < args.length && !/^(-.+|[(!,]|\\\()$/.test(args[to] ?? '')) to += 1;
  return { from, to };
}

interface Reading {
  found: Found;
  groups: Group[];
  negated: boolean;
  acts: boolean;
}

function act(reading: Reading, kind: 'deletesEvery' | 'runsOnEvery' | 'printsEvery'): void {
  reading.acts = true;
  if (!reading.groups.some((group) => group.narrowed)) reading.found[kind] = true;
}

function closeGroup(reading: Reading): void {
  const closed = reading.groups.length > 1 ? reading.groups.pop() : undefined;
  const around = reading.groups.at(-1);
  if (closed === undefined || around === undefined) return;
  const leavesOut = closed.narrowed && closed.allNarrowed && !closed.negated;
  around.narrowed = around.narrowed || leavesOut;
}

/** Reads one argument of the expression, and says how many it took. */
function readPart(reading: Reading, args: readonly string[], at: number): number {
  const arg = args[at] ?? '';
  const group = reading.groups.at(-1);
  const { negated } = reading;
  reading.negated = false;
  if (arg === '(' || arg === '\\(') {
    if (reading.groups.length < DEPTH_MAX) reading.groups.push(openGroup(negated));
  } else if (arg === ')' || arg === '\\)') closeGroup(reading);
  else if (arg === '!' || arg === '-not' || arg === '\\!') reading.negated = !negated;
  else if ((arg === '-o' || arg === '-or' || arg === ',') && group !== undefined) {
    group.allNarrowed = group.allNarrowed && group.narrowed;
    group.narrowed = false;
  } else if (arg === '-delete') act(reading, 'deletesEvery');
  else if (/^-f?(print|print0|ls|printf)$/.test(arg)) act(reading, 'printsEvery');
  else if (RUNS.has(arg)) {
    act(reading, 'runsOnEvery');
    return endOfCommand(args, at + 1) - at + 1;
  } else if (group !== undefined && restricts(arg, args[at + 1])) {
    group.narrowed = group.narrowed || !negated;
    return WITHOUT_VALUE.has(arg.slice(1)) ? 1 : 2;
  }
  return 1;
}

/** What a `find` with these arguments would hand on (POSIX XCU find, with the GNU additions). */
export function readFind(args: readonly string[]): Found {
  const { from, to } = countRoots(args);
  const roots = args.slice(from, to);
  const reading: Reading = {
    found: {
      roots: roots.length === 0 ? ['.'] : roots,
      deletesEvery: false,
      runsOnEvery: false,
      printsEvery: false,
    },
    groups: [openGroup(false)],
    negated: false,
    acts: false,
  };
  let at = to;
  while (at < args.length) at += readPart(reading, args, at);
  if (!reading.acts) act(reading, 'printsEvery');
  return reading.found;
}

/** `find` that deletes whatever is below a protected place. */
export const findRule: Rule = (command) => {
  const { roots, deletesEvery } = readFind(command.args);
  const place = deletesEvery ? worstPlace(roots, command) : null;
  return place === null ? null : ruleFor(place);
};
