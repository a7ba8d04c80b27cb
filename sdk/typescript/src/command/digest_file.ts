import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A longer file is not read to its end, and so has no digest. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** SHA-256 of a file's bytes; undefined where there is no regular file of at most 64 MiB that can be read. */
export async function digestFile(path: string): Promise<string | undefined> {
  const file = await openFile(path);
  try {
    return file === undefined ? undefined : await digest(file);
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}

/** Without blocking: a pipe by that name would wait for its other end. */
async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

async function digest(file: FileHandle): Promise<string | undefined> {
  if (!(await file.stat()).isFile()) {
    return undefined;
  }
  const hash = createHash('sha256');
  let left = FILE_BYTES_MAX;
  for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) {
    left -= (chunk as Uint8Array).length;
    if (left < 0) {
      return undefined;
    }
    hash.update(chunk as Uint8Array);
  }
  return hash.digest('hex');
}
