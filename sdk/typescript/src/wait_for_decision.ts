import { pause, pauseBeforeMs } from './backoff.ts';
import { sendGetApproval } from './calls.ts';
import type { Connection } from './connection.ts';
import { type AegisError, IntegrityError, isPassing, type PendingApproval, PendingError } from './errors.ts';
import { openTimedSignal } from './timed_signal.ts';
import type { Approval } from './wire.ts';

/** One long poll; under the minute after which many proxies cut a silent connection. */
const POLL_SECONDS_MAX = 25;
/** A pending answer that comes sooner did not wait, so the next question does. */
const QUICK_ANSWER_MS = 1_000;
/** How long past its own expiry an approval may be called pending: clocks and the last poll. */
const EXPIRY_GRACE_MS = 60_000;

export interface WaitOptions {
  /** How long to wait, in milliseconds; 0 looks once. Without it: until decided or expired. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until an approval is no longer pending, and checks at each look that it is the one asked for.
 *
 * Throws a `PendingError` at the caller's deadline, when the service could not be reached for the retry options'
 * `outageMs` or asks for a longer pause than their `retryAfterMaxMs`, and when an approval still reads as pending well after its expiry; the signal's reason when it is
 * aborted; an `IntegrityError` when the approval is for another action.
 */
export async function waitForDecision(
  connection: Connection,
  pending: PendingApproval,
  options: WaitOptions,
): Promise<Approval> {
  const start = performance.now();
  const deadline = start + (options.waitMs ?? Number.POSITIVE_INFINITY);
  let overdue = Number.POSITIVE_INFINITY;
  let outageStart: number | undefined;
  let idleTurns = 0;
  let asked = start;
  for (;;) {
    const look = await lookOnce(connection, pending, deadline - asked, options.signal);
    const now = performance.now();
    if ('approval' in look) {
      if (look.approval.status !== 'pending') {
        return look.approval;
      }
      outageStart = undefined;
      idleTurns = now - asked < QUICK_ANSWER_MS ? idleTurns + 1 : 0;
      overdue = Math.min(overdue, start + lifeMs(look.approval) + EXPIRY_GRACE_MS);
    } else {
      outageStart ??= asked;
      idleTurns += 1;
    }
    const pauseMs = pauseBeforeMs(connection.retry, idleTurns, look.error?.retryAfterSeconds);
    const isAway = pauseMs === undefined || now - (outageStart ?? now) >= connection.retry.outageMs;
    if (now >= overdue || isAway) {
      throw new PendingError(pending, 'the service does not say what became of it. Resume it later', {
        cause: look.error,
      });
    }
    const restMs = idleTurns > 0 ? pauseMs : 0;
    const leftMs = Math.max(0, deadline - now);
    if (restMs > 0) {
      await pause(Math.min(restMs, leftMs), options.signal);
    }
    asked = performance.now();
    // A timer may fire a moment early, which leaves no time for another look.
    if (restMs >= leftMs || asked >= deadline) {
      throw new PendingError(pending, 'nobody has decided yet. Resume it later', { cause: look.error });
    }
  }
}

type Look = { approval: Approval; error?: undefined } | { error: AegisError | undefined };

/** One poll, cut off at the deadline; an unreachable service is returned, not thrown. */
async function lookOnce(
  connection: Connection,
  pending: PendingApproval,
  leftMs: number,
  signal: AbortSignal | undefined,
): Promise<Look> {
  const waitSeconds = Math.min(POLL_SECONDS_MAX, Math.ceil(leftMs / 1000));
  // Only a caller who waits no time at all has none left here: one look, which takes the time a request may take.
  const timed = leftMs === 0 ? undefined : openTimedSignal(leftMs, signal);
  try {
    const approval = await sendGetApproval(connection, pending.approval_id, {
      waitSeconds,
      signal: timed?.signal ?? signal,
    });
    if (approval.original_action_hash !== pending.original_action_hash) {
      throw new IntegrityError('the approval is for another action', { approval });
    }
    return { approval };
  } catch (error) {
    signal?.throwIfAborted();
    if (timed?.isTimedOut() === true) {
      return { error: undefined };
    }
    if (isPassing(error)) {
      return { error };
    }
    throw error;
  } finally {
    timed?.close();
  }
}

/** By the service's clock alone, which the caller's need not agree with. */
function lifeMs(approval: Approval): number {
  return Date.parse(approval.expires_at) - Date.parse(approval.created_at);
}
