import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderRefused, openFolder } from '../policy/folder.ts';
import { listFolderFiles } from '../policy/folder_files.ts';

/**
 * Loads a policy folder as it would be with a file in it, without touching it: a copy is loaded.
 * @throws FolderRefused naming the folder itself, OperatorError, the file system's error.
 */
export async function checkWithFile(directory: string, source: string, text: string): Promise<void> {
  const files = [
    ...(await listFolderFiles(directory, '', '.cedar')),
    ...(await listFolderFiles(directory, 'tools', '.json')),
  ];
  const copy = await mkdtemp(join(tmpdir(), 'aegis-rehearsal-'));
  try {
    await mkdir(join(copy, 'tools'));
    for (const file of files) await copyFile(file.path, join(copy, file.source));
    // A copy has the permissions of what it was copied from, which may not let it be written.
    await rm(join(copy, source), { force: true });
    await writeFile(join(copy, source), text);
    await openFolder(copy);
  } catch (error) {
    if (!(error instanceof FolderRefused)) throw error;
    throw new FolderRefused(
      directory,
      error.problems.map((found) => ({ ...found, message: found.message.replaceAll(copy, directory) })),
    );
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
