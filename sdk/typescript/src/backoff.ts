/** How often and how long to try again. All times in milliseconds. */
export interface RetryOptions {
  /** Further attempts after the first; 0 never tries again. */
  max: number;
  /** Longest pause before the first further attempt; it doubles with each. */
  baseMs: number;
  /** No pause is longer. */
  capMs: number;
  /** A service that asks for a longer pause than this is not asked again. */
  retryAfterMaxMs: number;
  /** How long a wait for a decision, or the report of an outcome, outlives a service that cannot be reached. */
  outageMs: number;
}

export const DEFAULT_RETRY: Readonly<RetryOptions> = {
  max: 4,
  baseMs: 200,
  capMs: 5_000,
  retryAfterMaxMs: 15_000,
  outageMs: 60_000,
};

/** The pause before further attempt number `attempt` (from 0): doubling, capped, between half and all of it at random. */
export function backoffMs(retry: RetryOptions, attempt: number): number {
  const ceiling = Math.min(retry.capMs, retry.baseMs * 2 ** attempt);
  return ceiling * (0.5 + Math.random() / 2);
}

/** `Retry-After` (RFC 9110 §10.2.3) in seconds from `nowMs`; undefined when absent or not understood. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) {
    return undefined;
  }
  if (/^\d{1,9}$/.test(header)) {
    return Number(header);
  }
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) {
      stop();
    } else {
      signal?.addEventListener('abort', stop, { once: true });
    }
  });
}
