import type { CommandCall } from '../../core/command_call.ts';

/** What a call's host is. */
export type Platform = 'posix' | 'windows';

/** A drive and a separator, or a share: neither starts an absolute path of POSIX. */
const WINDOWS_PATH = /^(?:[A-Za-z]:[\\/]|\\\\)/;

/** The platform by the shape of the working directory and of the resolved paths; POSIX where they tell nothing. */
export function guessPlatform({ cwd, resolvedPaths }: CommandCall): Platform {
  const paths = [...(cwd === null ? [] : [cwd]), ...(resolvedPaths ?? [])];
  return paths.some((path) => WINDOWS_PATH.test(path)) ? 'windows' : 'posix';
}
