import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import { getReadable, parseApprovalId } from './access.ts';
import type { Deps } from './deps.ts';

export interface WaitInput {
  /** Seconds to wait while pending; 0 answers at once. */
  waitSeconds: number;
  /** The version the caller knows; any other answers at once. */
  knownVersion: number | undefined;
  /** Aborts when the client has gone or the service stops. */
  signal: AbortSignal;
}

const MS_PER_SECOND = 1000;
/** The database's clock may be behind ours: look again this much later when it has not yet expired there. */
const CLOCK_SLACK_MS = 25;

/** Reads an approval. @throws Fault `not_found`. */
export function getApproval(deps: Deps, caller: Caller, id: string): Promise<Approval> {
  return getReadable(deps, caller, id);
}

/**
 * Reads an approval, holding while it is pending; ends at its expiry, when its version moves, and when the
 * caller's key stops standing. Each wake-up reads the row again: a signal is never the answer.
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
      if (approval.status !== 'pending' || moved || now >= deadline || input.signal.aborted) return approval;
      const expiry = Math.max(approval.expiresAt.getTime(), now + CLOCK_SLACK_MS);
      const keyExpiry = caller.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
      await subscription.next(new Date(Math.min(deadline, expiry, keyExpiry)), input.signal);
      await deps.keys.assertStands(caller.keyId);
    }
  } finally {
    subscription.close();
  }
}
