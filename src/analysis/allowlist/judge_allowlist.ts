import type { CommandCall } from '../../core/command_call.ts';
import type { AllowlistEntry } from '../../core/exec_approvals.ts';
import { parseAbsolutePath } from '../../core/exec_approvals_pattern.ts';
import { type CommandAnalysis, listExecutables, type Word } from '../command/analysis.ts';
import { bindsWhatRuns } from './binds_what_runs.ts';
import { findBlocked } from './blocked.ts';
import { createEntryFinder, type EntryFinder } from './glob.ts';

/** A command of more executables than a person would list is asked for. */
export const EXECUTABLES_MAX = 64;

/** Comparisons that a command is worth: a fraction of a second, and more than any list that people write needs. */
const COMPARISONS_MAX = 500_000;

export interface AllowlistMiss {
  code:
    | 'not_understood'
    | 'no_executable'
    | 'too_many_executables'
    | 'blocked_construct'
    | 'not_bound'
    | 'paths_not_stated'
    | 'path_differs'
    | 'too_long'
    | 'not_listed';
  /** For a person: lower case, no full stop. */
  text: string;
}

export interface AllowlistVerdict {
  /** Whether every executable of the command is on the list. */
  matched: boolean;
  /** The entries that let it run, each once; empty when it is not matched. */
  uses: { entryId: string; resolvedPath: string }[];
  /** Why it is not matched. */
  misses: AllowlistMiss[];
}

/**
 * Whether an allowlist covers a command: all of it is understood; nothing in it could make other files run than its
 * words say (see `findBlocked` and `bindsWhatRuns`); the call states one resolved path for each executable in the
 * analyser's order, with the name that the command has for it; and each path matches an entry. Arguments are not
 * judged beyond what the analyser opens: an option that it does not know, by which a listed program starts another,
 * goes with the entry.
 */
export function judgeAllowlist(
  call: CommandCall,
  analysis: CommandAnalysis,
  entries: readonly AllowlistEntry[],
): AllowlistVerdict {
  const executables = listExecutables(analysis);
  const misses = findMisses(call, analysis, executables);
  if (misses.length > 0) return { matched: false, uses: [], misses };
  return matchPaths(call.resolvedPaths ?? [], entries);
}

function findMisses(
  call: CommandCall,
  analysis: CommandAnalysis,
  executables: readonly Word[],
): AllowlistMiss[] {
  if (!analysis.understood) {
    return [{ code: 'not_understood', text: 'it is not known what this command would run' }];
  }
  if (executables.length === 0) return [{ code: 'no_executable', text: 'the command runs no executable' }];
  if (executables.length > EXECUTABLES_MAX) {
    return [{ code: 'too_many_executables', text: `it runs more than ${EXECUTABLES_MAX} executables` }];
  }
  const blocked = findBlocked(call, analysis).map((text) => ({ code: 'blocked_construct' as const, text }));
  const unbound = bindsWhatRuns(call, analysis)
    ? []
    : [
        {
          code: 'not_bound' as const,
          text: 'it sets variables, or runs script files whose digests are not stated',
        },
      ];
  return [...blocked, ...unbound, ...comparePaths(call, executables)];
}

function comparePaths(
  { resolvedPaths: paths, cwd }: CommandCall,
  executables: readonly Word[],
): AllowlistMiss[] {
  if (paths?.length !== executables.length) {
    const text = `it runs ${executables.length} executables and states ${paths?.length ?? 0} resolved paths`;
    return [{ code: 'paths_not_stated', text }];
  }
  return executables.flatMap((word, index) => {
    if (word.value !== null && namesPath(word.value, paths[index] ?? '', cwd)) return [];
    const text = `resolved path ${index + 1} is no absolute path of what the command calls there`;
    return [{ code: 'path_differs' as const, text }];
  });
}

/** Whether a resolved path can be what a word of a command names in its working directory. */
function namesPath(word: string, path: string, cwd: string | null): boolean {
  const parsed = parseAbsolutePath(path);
  if (parsed === undefined) return false;
  const isWindows = parsed.drive !== null;
  const parts = isWindows ? word.split(/[/\\]/) : word.split('/');
  const isSame = isWindows ? isSameOnWindows : (a: string, b: string) => a === b;
  if (!isSame(parts.at(-1) ?? '', parsed.components.at(-1) ?? '')) return false;
  // A word that is a path itself runs that very file, whatever else has the name.
  const isAbsolute = isWindows ? /^[A-Za-z]:/.test(word) || /^[/\\]/.test(word) : word.startsWith('/');
  if (!isAbsolute && (parts.length === 1 || cwd === null)) return true;
  const named = parseAbsolutePath(isAbsolute ? word : joinPath(cwd ?? '', parts));
  return (
    named !== undefined &&
    named.drive === parsed.drive &&
    named.components.length === parsed.components.length &&
    named.components.every((component, index) => isSame(component, parsed.components[index] ?? ''))
  );
}

/** What stands below a folder, as written: where `..` leads depends on links, and such a path names nothing here. */
function joinPath(folder: string, parts: readonly string[]): string {
  const below = parts.filter((part) => part !== '' && part !== '.');
  return [folder.replace(/[/\\]$/, ''), ...below].join('/');
}

/** Without case, and with or without the ending that Windows adds itself. */
function isSameOnWindows(a: string, b: string): boolean {
  const [first, second] = [a, b].map((name) => foldCase(name).replace(/\.exe$/, ''));
  return first === second;
}

function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** One list is held against several commands, and one command is looked at several times. */
const finders = new WeakMap<readonly AllowlistEntry[], EntryFinder>();

function finderOf(entries: readonly AllowlistEntry[]): EntryFinder {
  const known = finders.get(entries);
  if (known !== undefined) return known;
  const finder = createEntryFinder(entries);
  finders.set(entries, finder);
  return finder;
}

function matchPaths(paths: readonly string[], entries: readonly AllowlistEntry[]): AllowlistVerdict {
  const find = finderOf(entries);
  const effort = { left: COMPARISONS_MAX };
  const uses = new Map<string, string>();
  const misses: AllowlistMiss[] = [];
  for (const path of new Set(paths)) {
    const entry = find(path, effort);
    if (effort.left <= 0) return { matched: false, uses: [], misses: [TOO_LONG] };
    if (entry === undefined) misses.push({ code: 'not_listed', text: `no entry matches \`${path}\`` });
    else if (!uses.has(entry.id)) uses.set(entry.id, path);
  }
  if (misses.length > 0) return { matched: false, uses: [], misses };
  return {
    matched: true,
    uses: [...uses].map(([entryId, resolvedPath]) => ({ entryId, resolvedPath })),
    misses,
  };
}

const TOO_LONG: AllowlistMiss = {
  code: 'too_long',
  text: 'its paths are too long to be held against every entry',
};
