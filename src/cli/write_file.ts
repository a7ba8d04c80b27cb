import { randomBytes } from 'node:crypto';
import { chmod, link, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Puts a text in a file's place all at once: a reader sees the old file or the new one, whole. A link is followed, the
 * file's permissions stay. @throws the file system's error; the file is then as it was.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return path;
    throw error;
  });
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => undefined,
  );
  await throughTemporary(target, text, async (temporary) => {
    if (mode !== undefined) await chmod(temporary, mode);
    await rename(temporary, target);
  });
}

/** The same for a file that is not there yet. @returns false, and nothing is written, when it is there. */
export async function createFile(path: string, text: string): Promise<boolean> {
  let made = true;
  await throughTemporary(path, text, async (temporary) => {
    // Unlike a renaming, a link never takes the place of what is there.
    await link(temporary, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      made = false;
    });
  });
  return made;
}

async function throughTemporary(
  path: string,
  text: string,
  place: (temporary: string) => Promise<void>,
): Promise<void> {
  // Its ending is none that the loader reads.
  const temporary = join(dirname(path), `.aegis-${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await place(temporary);
  } finally {
    await rm(temporary, { force: true });
  }
}
