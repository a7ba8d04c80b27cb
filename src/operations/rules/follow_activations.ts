import { RULES_SUBJECT } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';

type FollowDeps = Pick<Deps, 'policy' | 'revisions' | 'signals'>;

/** No signal comes this late without the subscription ending by itself. */
const LATEST = new Date(8.64e15);

/**
 * Loads what other processes activate as soon as it is heard of, so that the first request need not wait for it: for
 * tenants whose former revision is in use here. Nothing relies on it: a request loads the revision that decides for
 * it, whether or not this was by. Ends when `stopping` aborts.
 */
export async function followActivations(
  deps: FollowDeps,
  onTrouble: (error: unknown) => void,
  stopping: AbortSignal,
): Promise<void> {
  const subscription = deps.signals.subscribe([RULES_SUBJECT]);
  const known = new Map<string, string>();
  const look = async (): Promise<void> => {
    for (const { tenantId, activeRevision } of await deps.revisions.listTenants()) {
      const former = known.get(tenantId);
      known.set(tenantId, activeRevision);
      if (former === undefined || former === activeRevision) continue;
      if (deps.policy.find(former) !== undefined) await deps.policy.load(tenantId, activeRevision);
    }
  };
  while (!stopping.aborted) {
    await look().catch(onTrouble);
    await subscription.next(LATEST, stopping);
  }
  subscription.close();
}
