import { TIMER_MS_MAX } from './backoff.ts';

/** An abort signal that ends with another one or after a time, whichever is first. `close` frees its timer. */
export interface TimedSignal {
  readonly signal: AbortSignal;
  /** Whether the time was what ended it. */
  isTimedOut(): boolean;
  close(): void;
}

/**
 * In place of `AbortSignal.any` with `AbortSignal.timeout`, whose signals some Node 20 releases collect as garbage
 * while they are still waited for.
 */
export function openTimedSignal(ms: number, outer?: AbortSignal): TimedSignal {
  const controller = new AbortController();
  let timedOut = false;
  const follow = () => controller.abort(outer?.reason);
  const timer = setTimeout(
    () => {
      timedOut = true;
      controller.abort();
    },
    Math.min(ms, TIMER_MS_MAX),
  );
  if (outer?.aborted === true) {
    follow();
  } else {
    outer?.addEventListener('abort', follow, { once: true });
  }
  return {
    signal: controller.signal,
    isTimedOut: () => timedOut,
    close: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
