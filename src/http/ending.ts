/**
 * A signal that aborts with any of its sources, until it is released. `AbortSignal.any` would not do: on Node 20 a
 * source that lives as long as the service keeps each signal made of it.
 */
export function createEnding(sources: () => AbortSignal[]): {
  signal: () => AbortSignal;
  release: () => void;
} {
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  let followed: AbortSignal[] = [];
  return {
    signal: () => {
      followed = sources();
      for (const source of followed) source.addEventListener('abort', abort);
      if (followed.some((source) => source.aborted)) abort();
      return ending.signal;
    },
    release: () => {
      for (const source of followed) source.removeEventListener('abort', abort);
    },
  };
}
