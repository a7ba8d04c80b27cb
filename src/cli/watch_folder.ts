import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** Whoever saves several files, or one in several steps, is done when this long nothing more has changed. */
const QUIET_MS = 250;

export interface FolderWatch {
  close(): void;
}

/**
 * Calls back once a folder, or a named folder in it, has changed and is quiet again. Where the platform cannot watch,
 * `onTrouble` is told why and nothing is called back.
 */
export function watchFolder(
  directory: string,
  inner: readonly string[],
  onChange: () => void,
  onTrouble: (error: unknown) => void,
): FolderWatch {
  let timer: NodeJS.Timeout | undefined;
  const innerWatchers = new Map<string, FSWatcher>();

  const start = (path: string, onEvent: () => void): FSWatcher => {
    const watcher = watch(path, onEvent);
    watcher.on('error', onTrouble);
    return watcher.unref();
  };
  const wait = (): void => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS).unref();
  };
  /** An inner folder may have been made, or replaced by another of its name. */
  const watchInner = (): void => {
    for (const name of inner) {
      innerWatchers.get(name)?.close();
      innerWatchers.delete(name);
      try {
        innerWatchers.set(name, start(join(directory, name), wait));
      } catch {
        // It is not there; that it comes is a change of the folder it is in.
      }
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
      for (const watcher of innerWatchers.values()) watcher.close();
    },
  };
}
