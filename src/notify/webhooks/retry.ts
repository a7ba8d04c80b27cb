/**
 * How long after a failed attempt the next one is made, in seconds; the first is made at once. The schedule of Standard
 * Webhooks 1.0 ("Deliverability and reliability"): ten attempts over three and a half days.
 */
export const RETRY_SECONDS: readonly number[] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** What a receiver that asks for more time is given at the most. */
const RETRY_AFTER_SECONDS_MAX = 86_400;

/** Attempts that failed together are spread over a tenth of their pause. */
const JITTER = 0.1;

/** RFC 9110 §5.6.7: the form that is written, and the two that are still read. The last is in UTC without saying so. */
const HTTP_DATES: readonly [RegExp, string][] = [
  [/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/, ''],
  [/^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/, ''],
  [/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/, ' GMT'],
];

/** The seconds that a `Retry-After` asks for (RFC 9110 §10.2.3), at most a day; null for any other text. */
export function parseRetryAfter(text: string | undefined, now: Date): number | null {
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text), RETRY_AFTER_SECONDS_MAX);
  const date = HTTP_DATES.find(([form]) => form.test(text));
  const at = date === undefined ? Number.NaN : Date.parse(text + date[1]);
  if (Number.isNaN(at)) return null;
  return Math.min(Math.max(0, (at - now.getTime()) / 1000), RETRY_AFTER_SECONDS_MAX);
}

/**
 * Seconds until the next attempt after `attempts` of them, never fewer than the receiver asked for; null when there is
 * none left. `chance` lies in [0, 1).
 */
export function secondsUntilNext(
  schedule: readonly number[],
  attempts: number,
  retryAfterSeconds: number | null,
  chance: number,
): number | null {
  const pause = schedule[attempts - 1];
  if (pause === undefined) return null;
  return Math.max(pause, retryAfterSeconds ?? 0) * (1 + JITTER * chance);
}
