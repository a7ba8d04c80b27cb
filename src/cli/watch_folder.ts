import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** Whoever saves several files, or one in several steps, is done when this long nothing more has changed. */
const QUIET_MS = 250;

export interface FolderWatch {
  close(): void;
}

/**
 * Calls back once a folder, or the named folder in it, has changed and is quiet again. Where the platform cannot watch,
 * `onTrouble` is told why and nothing is called back.
 */
export function watchFolder(
  directory: string,
  inner: string,
  onChange: () => void,
  onTrouble: (error: unknown) => void,
): FolderWatch {
  let timer: NodeJS.Timeout | undefined;
  let innerWatcher: FSWatcher | undefined;

  const start = (path: string, onEvent: () => void): FSWatcher => {
    const watcher = watch(path, onEvent);
    watcher.on('error', onTrouble);
    return watcher.unref();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS).unref();
  };
  /** The inner folder may have been made, or replaced by another of its name. */
  const watchInner = (): void => {
    innerWatcher?.close();
    try {
      innerWatcher = start(join(directory, inner), wait);
    } catch {
      innerWatcher = undefined;
    }
  };

  let outerWatcher: FSWatcher | undefined;
  try {
    outerWatcher = start(directory, () => {
      watchInner();
      wait();
    });
    watchInner();
  } catch (error) {
    onTrouble(error);
  }
  return {
    close: () => {
      clearTimeout(timer);
      outerWatcher?.close();
      innerWatcher?.close();
    },
  };
}
