import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import type { Deps } from './deps.ts';

type WatchDeps = Pick<Deps, 'keys' | 'now' | 'signals'>;

/** Looks again no sooner than this: at an expiry that our clock has and the database's has not, or while it is down. */
const AGAIN_MS = 250;
/** No signal comes this late without the subscription ending by itself. */
const LATEST_MS = 8.64e15;

/** Why a key no longer stands; `unknown` while nobody can tell. */
async function findEnd(deps: WatchDeps, caller: Caller): Promise<Fault | 'stands' | 'unknown'> {
  try {
    await deps.keys.assertStands(caller.keyId);
    return 'stands';
  } catch (error) {
    return error instanceof Fault && error.code !== 'unavailable' ? error : 'unknown';
  }
}

/**
 * Resolves to why the caller's key no longer stands, as soon as that is heard of: revoked, expired, frozen, disabled;
 * to undefined when `signal` aborts first. A database that cannot be asked ends nothing: whatever is meanwhile done
 * with the key is refused by itself.
 */
export async function watchKey(
  deps: WatchDeps,
  caller: Caller,
  signal: AbortSignal,
): Promise<Fault | undefined> {
  const subscription = deps.signals.subscribe([caller.keyId]);
  try {
    while (!signal.aborted) {
      const end = await findEnd(deps, caller);
      if (end instanceof Fault) return end;
      const again = deps.now().getTime() + AGAIN_MS;
      const until = end === 'stands' ? Math.max(caller.expiresAt?.getTime() ?? LATEST_MS, again) : again;
      await subscription.next(new Date(until), signal);
    }
    return undefined;
  } finally {
    subscription.close();
  }
}
