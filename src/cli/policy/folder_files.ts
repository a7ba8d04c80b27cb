import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../core/operator_error.ts';
import { oneLine } from '../config_values.ts';

/** Bytes that one file of a policy folder may have. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** A file of a policy folder: where it is, and its name within the folder. */
export interface FolderFile {
  path: string;
  source: string;
}

/**
 * The files of a policy folder, or of a folder in it, whose names have an ending; in order of names. A folder in it
 * may be missing. What it names can be read at once: files, none of them huge.
 * @throws OperatorError for what is no such file; the file system's error for what cannot be read.
 */
export async function listFolderFiles(
  directory: string,
  folder: '' | 'tools' | 'cases',
  ending: string,
): Promise<FolderFile[]> {
  const names = await readdir(join(directory, folder)).catch((error: NodeJS.ErrnoException) => {
    if (folder !== '' && error.code === 'ENOENT') return [];
    throw error;
  });
  const wanted = names.filter((name) => name.endsWith(ending)).toSorted();
  const files = wanted.map((name) => ({ path: join(directory, folder, name), source: join(folder, name) }));
  for (const { path } of files) await assertReadable(path);
  return files;
}

async function assertReadable(path: string): Promise<void> {
  const found = await stat(path);
  if (!found.isFile()) throw new OperatorError(`\`${oneLine(path)}\` is no file. Move it elsewhere`);
  if (found.size > FILE_BYTES_MAX) {
    throw new OperatorError(
      `\`${oneLine(path)}\` has ${found.size} bytes, over the ${FILE_BYTES_MAX} of a file here. Split it`,
    );
  }
}
