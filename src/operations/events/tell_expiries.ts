import type { Deps } from '../deps.ts';
import { pause } from '../pause.ts';

/** How often each process looks; what has expired reads so at once, whether or not it has been told. */
const LOOK_MS = 1_000;

/**
 * Tells once a second, until `signal` aborts, which approvals are about to expire and which have, and counts the
 * latter: of all processes one tells each. A database that is away delays it: what was due meanwhile is told when it
 * is back, and `onTrouble` is called once. Never rejects.
 */
export async function tellExpiries(
  { expiries, metrics }: Pick<Deps, 'expiries' | 'metrics'>,
  onTrouble: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  let isTroubled = false;
  while (!signal.aborted) {
    let hasMore = false;
    try {
      const told = await expiries.tellExpiries();
      for (const { wasShown } of told.expired) metrics.countExpired(wasShown);
      isTroubled = false;
      hasMore = told.hasMore;
    } catch (error) {
      if (!isTroubled) onTrouble(error);
      isTroubled = true;
    }
    if (!hasMore) await pause(LOOK_MS, signal);
  }
}
