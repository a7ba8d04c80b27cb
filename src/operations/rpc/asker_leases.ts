import type { Asker } from '../../core/asker_ports.ts';
import type { Deps } from '../deps.ts';

type LeaseDeps = Pick<Deps, 'askers'>;

/** How often a process says that its connections are still there; a lease outlives two that are missed. */
const RENEW_MS = 5_000;

/** Cancels what a connection still waits for, or the one approval named: nobody would use a yes. */
export function withdrawAsks(deps: LeaseDeps, asker: Asker, approvalId: string | null): Promise<void> {
  return deps.askers.withdraw(asker, approvalId);
}

/**
 * Says again and again that `listAskers`' connections are there, and cancels what those of processes that died still
 * wait for. Nothing relies on the latter: a lapsed lease counts as soon as it has. Returns what stops it.
 */
export function keepAskerLeases(
  deps: LeaseDeps,
  listAskers: () => Asker[],
  onTrouble: (error: unknown) => void,
): () => Promise<void> {
  const once = async (): Promise<void> => {
    try {
      await deps.askers.renew(listAskers());
      await deps.askers.withdrawAbandoned();
    } catch (error) {
      onTrouble(error);
    }
  };
  let running = once();
  const timer = setInterval(() => {
    running = running.then(once);
  }, RENEW_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
