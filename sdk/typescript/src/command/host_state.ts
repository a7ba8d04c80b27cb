import { realpath, stat } from 'node:fs/promises';
import type { CommandCall } from '../../../../src/core/command_call.ts';
import type { CommandParameters } from './command_parameters.ts';
import { readCommand } from './command_reading.ts';
import { digestFile } from './digest_file.ts';
import { absolutePath, findExecutable } from './find_executable.ts';

/** What interprets a command that is given as shell text. */
export const SHELL = '/bin/sh';

/** What a command would run on this host, at one moment. */
export interface HostState {
  /** The file to run: of the first word, or the shell. Undefined when there is none. */
  executable: string | undefined;
  /** One path for each executable, as `resolved_paths` states them; undefined when one is not known. */
  resolvedPaths: string[] | undefined;
  /** As `file_digests` states them. */
  fileDigests: Record<string, string>;
  /** Which file stands behind each of those paths, by path: where its links lead, its inode, size and times. */
  identities: ReadonlyMap<string, string>;
}

/** Looks at what a command in its folder and with a `PATH` would run. */
export async function surveyHost(call: CommandCall & { cwd: string }, path: string): Promise<HostState> {
  const { executables, scripts } = readCommand(call);
  const find = createFinder(call.cwd, path);
  // Files that the command names by their path. These first: hashing takes time, and what is looked at last is the
  // freshest.
  const named = (executables ?? []).filter((word) => word.includes('/'));
  const fileDigests = await digestFiles(call.cwd, [...scripts, ...named]);
  const found = await Promise.all((executables ?? []).map(find));
  const isComplete =
    executables !== null && executables.length > 0 && found.every((one) => one !== undefined);
  const executable = call.argv === null ? SHELL : await find(call.argv[0] ?? '');
  const watched = new Set([call.cwd, ...found, executable].filter((one) => one !== undefined));
  return {
    executable,
    resolvedPaths: isComplete ? found : undefined,
    fileDigests,
    identities: new Map(
      await Promise.all([...watched].map(async (one) => [one, await identify(one)] as const)),
    ),
  };
}

type Finder = (word: string) => Promise<string | undefined>;

/** Looks for each word once. */
function createFinder(cwd: string, path: string): Finder {
  const known = new Map<string, Promise<string | undefined>>();
  return (word) => {
    const found = known.get(word) ?? findExecutable(word, cwd, path);
    known.set(word, found);
    return found;
  };
}

async function digestFiles(cwd: string, names: readonly string[]): Promise<Record<string, string>> {
  const digests: [string, string][] = [];
  for (const name of new Set(names)) {
    const digest = await absolutePath(cwd, name).then(digestFile, () => undefined);
    if (digest !== undefined) {
      digests.push([name, digest]);
    }
  }
  return Object.fromEntries(digests);
}

/** Empty when nothing is there. A folder is the same one whatever is put into it. */
async function identify(path: string): Promise<string> {
  try {
    const target = await realpath(path);
    const found = await stat(target, { bigint: true });
    // The last, which nobody can set, also tells of a write whose traces were covered up.
    const state = found.isDirectory() ? [] : [found.size, found.mtimeNs, found.ctimeNs];
    return JSON.stringify([target, ...[found.dev, found.ino, ...state].map(String)]);
  } catch {
    return '';
  }
}

/**
 * How the host differs from what was approved; undefined when it does not. `before` is what the call saw when it
 * asked, null in a call that was taken up again; what an edit left unsaid is compared with that alone.
 */
export function findChange(
  approved: CommandParameters,
  edited: boolean,
  before: HostState | null,
  now: HostState,
): string | undefined {
  if (approved.resolved_paths !== undefined || !edited) {
    const paths = now.resolvedPaths ?? [];
    const stated = approved.resolved_paths ?? [];
    const longer = stated.length > paths.length ? stated : paths;
    const moved = longer.findIndex((_, index) => stated[index] !== paths[index]);
    if (moved !== -1) {
      return `it would run ${name(paths[moved])} where ${name(stated[moved])} was approved`;
    }
  }
  if (approved.file_digests !== undefined || !edited) {
    const stated = approved.file_digests ?? {};
    const names = new Set([...Object.keys(stated), ...Object.keys(now.fileDigests)]);
    const changed = [...names].find((name) => ownDigest(stated, name) !== ownDigest(now.fileDigests, name));
    if (changed !== undefined) {
      return `the file \`${changed}\` is not the one whose digest was approved`;
    }
  }
  for (const [path, identity] of now.identities) {
    if (before?.identities.has(path) === true && before.identities.get(path) !== identity) {
      return `\`${path}\` is another file than when the command was asked for`;
    }
  }
  return undefined;
}

function name(path: string | undefined): string {
  return path === undefined ? 'no path that is known' : `\`${path}\``;
}

function ownDigest(digests: Record<string, string>, name: string): string | undefined {
  return Object.hasOwn(digests, name) ? digests[name] : undefined;
}
