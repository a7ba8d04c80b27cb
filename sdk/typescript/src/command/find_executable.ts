import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';

/**
 * The absolute path of a file as a process in `folder` names it. A name is only ever shortened where that cannot
 * change which file it names: what is before a `..` is followed first, as it may be a symbolic link.
 */
export async function absolutePath(folder: string, name: string): Promise<string> {
  const path = isAbsolute(name) ? name : `${folder}/${name}`;
  if (!path.split('/').includes('..')) {
    return normalize(path);
  }
  return join(await realpath(dirname(path)), basename(path));
}

/**
 * Where `execvp` (POSIX.1-2017 XSH exec) finds the executable of a command: the word itself when it has a slash, else
 * the first file in the folders of `path` that may be executed. The last component is the word's own, so a symbolic
 * link is named, not followed. Undefined when there is none.
 */
export async function findExecutable(
  word: string,
  folder: string,
  path: string,
): Promise<string | undefined> {
  if (word === '' || word.includes('\0')) {
    return undefined;
  }
  if (word.includes('/')) {
    return findAt(folder, word);
  }
  for (const prefix of path.split(':')) {
    // An empty prefix is the current folder.
    const found = await findAt(folder, `${prefix === '' ? '.' : prefix}/${word}`);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

async function findAt(folder: string, name: string): Promise<string | undefined> {
  try {
    const path = await absolutePath(folder, name);
    await access(path, constants.X_OK);
    return (await stat(path)).isFile() ? path : undefined;
  } catch {
    // Whatever keeps it from being looked at keeps it from being run.
    return undefined;
  }
}
