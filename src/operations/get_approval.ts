import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { getReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';
import { recordShown } from './record_shown.ts';

export interface WaitInput {
  /** Seconds to wait while pending; 0 answers at once. */
  waitSeconds: number;
  /** The version the caller knows; any other answers at once. */
  knownVersion: number | undefined;
  /** Aborts when the client has gone or the service stops. */
  signal: AbortSignal;
}

const MS_PER_SECOND = 1000;
/** Looks again no sooner than this: what is about to expire must have done so, even where a timer is early. */
const EXPIRY_SLACK_MS = 25;

/** Reads an approval, and notes that an approver was shown it. @throws Fault `not_found`. */
export async function getApproval(deps: Deps, caller: Caller, id: string): Promise<Approval> {
  const approval = await getReadable(deps, caller, id);
  await recordShown(deps, caller, approval);
  return approval;
}

/**
 * When an instant of the database's clock comes by ours, in milliseconds; null never comes. `readAt` is the
 * database's now, so that it does not matter how far the clocks are apart.
 */
function toOurClock(at: Date | null, readAt: Date, now: number): number {
  if (at === null) return Number.POSITIVE_INFINITY;
  return now + Math.max(at.getTime() - readAt.getTime(), EXPIRY_SLACK_MS);
}

/**
 * Reads an approval, holding while it is pending; ends at its expiry, when its version moves, and when the
 * caller's key stops standing. Each wake-up reads the row again: a signal is never the answer. Notes that an approver
 * was shown one that still waits.
 * @throws Fault `not_found`, `unauthenticated`, `agent_frozen`.
 */
export async function waitForApproval(
  deps: Deps,
  caller: Caller,
  id: string,
  input: WaitInput,
): Promise<Approval> {
  const approvalId = parseApprovalId(id);
  const deadline = deps.now().getTime() + input.waitSeconds * MS_PER_SECOND;
  const subscription = deps.signals.subscribe([approvalId, caller.keyId]);
  try {
    for (;;) {
      const approval = await getReadable(deps, caller, id);
      const now = deps.now().getTime();
      const moved = input.knownVersion !== undefined && approval.version !== input.knownVersion;
      if (approval.status !== 'pending' || moved || now >= deadline || input.signal.aborted) {
        await recordShown(deps, caller, approval);
        return approval;
      }
      const expiries = [approval.expiresAt, caller.expiresAt].map((at) =>
        toOurClock(at, approval.readAt, now),
      );
      await subscription.next(new Date(Math.min(deadline, ...expiries)), input.signal);
      await deps.keys.assertStands(caller.keyId);
    }
  } finally {
    subscription.close();
  }
}
