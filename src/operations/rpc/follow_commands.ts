import type { Approval } from '../../core/approval.ts';
import { approvalsSubject } from '../../core/asker_ports.ts';
import type { Deps } from '../deps.ts';
import { pause } from '../pause.ts';

type FollowDeps = Pick<Deps, 'approvals' | 'askers' | 'now' | 'signals'>;

/** What has changed among a tenant's commands since it was looked at last. */
export interface CommandNews {
  /** Waits for a person, or waits with other bytes than before. */
  requested: Approval[];
  /** Waited for a person and no longer does, as it is now. */
  resolved: Approval[];
}

/** How often it looks by itself; a lease that lapses, for one, is no signal. */
const LOOK_MS = 5_000;
/** What changes within this time is told together. */
const GAP_MS = 10;
/** Where looking takes long, so many times as long is not looked: one tenant's news take no more of the database. */
const GAP_OF_LOOK = 2;
/** Looks no sooner than this after an expiry, even where a timer is early. */
const EXPIRY_SLACK_MS = 25;

type Known = ReadonlyMap<string, Approval>;

function toMap(approvals: readonly Approval[]): Known {
  return new Map(approvals.map((approval) => [approval.approvalId, approval]));
}

async function findNews(deps: FollowDeps, tenantId: string, before: Known, now: Known): Promise<CommandNews> {
  const requested = [...now.values()].filter(
    (approval) => before.get(approval.approvalId)?.actionHash !== approval.actionHash,
  );
  const gone = [...before.keys()].filter((approvalId) => !now.has(approvalId));
  const found = await Promise.all(gone.map((approvalId) => deps.approvals.find(tenantId, approvalId)));
  return { requested, resolved: found.filter((approval) => approval !== undefined) };
}

/** When to look again if nothing is heard: at the next expiry, by our clock. */
function nextLook(deps: FollowDeps, known: Known): Date {
  const lives = [...known.values()].map(({ expiresAt, readAt }) => expiresAt.getTime() - readAt.getTime());
  const wait = Math.min(LOOK_MS, Math.max(Math.min(...lives) + EXPIRY_SLACK_MS, GAP_MS));
  return new Date(deps.now().getTime() + wait);
}

/**
 * Follows a tenant's commands that wait for a person, by whichever process they were asked and decided, until
 * `signal` aborts. Resolves once it has looked for the first time: what is asked from then on is told by `onNews`.
 * A signal is never the news itself: each wake-up reads anew. What cannot be read now is told when it can be.
 * @throws Fault `unavailable` when it cannot look for the first time.
 */
export async function followCommands(
  deps: FollowDeps,
  tenantId: string,
  onNews: (news: CommandNews) => void,
  signal: AbortSignal,
): Promise<void> {
  const subscription = deps.signals.subscribe([approvalsSubject(tenantId)]);
  const read = async (): Promise<Known> => toMap(await deps.askers.listPendingCommands(tenantId));
  const follow = async (first: Known): Promise<void> => {
    let known = first;
    while (!signal.aborted) {
      await subscription.next(nextLook(deps, known), signal);
      if (signal.aborted) break;
      const startedAt = deps.now().getTime();
      try {
        const now = await read();
        const news = await findNews(deps, tenantId, known, now);
        known = now;
        onNews(news);
      } catch {
        // Not readable now: the next look finds what is new since the last that could be had.
      }
      const took = deps.now().getTime() - startedAt;
      await pause(Math.max(GAP_MS, took * GAP_OF_LOOK), signal);
    }
    subscription.close();
  };
  try {
    void follow(await read());
  } catch (error) {
    subscription.close();
    throw error;
  }
}
