import { definedMembers } from './defined.ts';

/** How often and how long to try again. All times in milliseconds. */
export interface RetryOptions {
  /** Further attempts after the first; 0 never tries again. */
  max: number;
  /** Longest pause before the first further attempt; it doubles with each. */
  baseMs: number;
  /** No pause is longer, unless the service asks for a longer one. */
  capMs: number;
  /** A service that asks for a longer pause than this is not asked again. */
  retryAfterMaxMs: number;
  /** How long a wait for a decision, or the report of an outcome, outlives a service that cannot be reached. */
  outageMs: number;
}

const DEFAULT_RETRY: Readonly<RetryOptions> = {
  max: 4,
  baseMs: 200,
  capMs: 5_000,
  retryAfterMaxMs: 15_000,
  outageMs: 60_000,
};

/** The longest time a timer takes; it fires at once for a longer one. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** The options with what is not given filled in; throws a `TypeError` when one could not bound anything. */
export function readRetry(given: Partial<RetryOptions>): Readonly<RetryOptions> {
  const retry = { ...DEFAULT_RETRY, ...definedMembers(given) };
  for (const name of Object.keys(DEFAULT_RETRY) as (keyof RetryOptions)[]) {
    assertBound(`retry.${name}`, retry[name]);
  }
  return retry;
}

/** Throws a `TypeError` unless the value can be counted or waited to. */
export function assertBound(name: string, value: unknown): void {
  if (!(typeof value === 'number' && value >= 0 && value <= TIMER_MS_MAX)) {
    throw new TypeError(`\`${name}\` is not a number from 0 to ${TIMER_MS_MAX}`);
  }
}

/**
 * The pause before further attempt number `attempt` (from 0): doubling, capped, between half and all of it at random,
 * and at least as long as the service asked for. Undefined when it asked for more than the bound.
 */
export function pauseBeforeMs(
  retry: RetryOptions,
  attempt: number,
  retryAfterSeconds: number | undefined,
): number | undefined {
  const askedMs = (retryAfterSeconds ?? 0) * 1000;
  const ceiling = Math.min(retry.capMs, retry.baseMs * 2 ** Math.min(attempt, 30));
  return askedMs > retry.retryAfterMaxMs ? undefined : Math.max(askedMs, ceiling * (0.5 + Math.random() / 2));
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
