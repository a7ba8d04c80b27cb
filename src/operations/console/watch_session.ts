import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';

/** Looks again no sooner than this: at an expiry that our clock has and the database's has not, or while it is down. */
const AGAIN_MS = 250;

/**
 * Resolves as soon as it is heard that a session has ended, by signing out or by its time, or when `signal` aborts. A
 * database that cannot be asked ends nothing. The end of its key is `watchKey`'s to tell.
 */
export async function watchSession(deps: Deps, secret: string, signal: AbortSignal): Promise<void> {
  const sessionHash = sha256Hex(secret);
  const subscription = deps.signals.subscribe([sessionHash]);
  try {
    while (!signal.aborted) {
      const session = await deps.consoleSessions.find(sessionHash).catch(() => 'unknown' as const);
      if (session === undefined) return;
      const again = deps.now().getTime() + AGAIN_MS;
      const until = session === 'unknown' ? again : Math.max(session.expiresAt.getTime(), again);
      await subscription.next(new Date(until), signal);
    }
  } finally {
    subscription.close();
  }
}
