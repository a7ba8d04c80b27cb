import type { Caller } from '../../core/caller.ts';
import type { EventPosition } from '../../core/event_ports.ts';
import { Fault } from '../../core/fault.ts';
import { readsAll } from '../access.ts';
import type { Deps } from '../deps.ts';
import { watchKey } from '../watch_key.ts';
import type { EventReader } from './event_reader.ts';

export interface FollowEventsInput {
  /** The last event that the caller has; without it, what happens from now on is told. */
  after: EventPosition | undefined;
  /** Aborts when the client has gone or the service stops. */
  signal: AbortSignal;
}

/** A caller's events, for as long as its key stands. */
export interface FollowedEvents {
  reader: EventReader;
  /** Aborts when there will be no more: the key no longer stands, the client has gone, the service stops. */
  over: AbortSignal;
  /** Ends it; call it in any case. */
  close(): void;
}

/**
 * Places a reader in what happens to approvals: an agent hears of its own, who reads approvals of others of all of
 * the tenant's. Ends within a second of the end of the caller's key.
 * @throws Fault `forbidden`; `throttled` when the key or the process has too many readers; `unavailable`.
 */
export async function followEvents(
  deps: Pick<Deps, 'eventFeeds' | 'keys' | 'now' | 'signals'>,
  caller: Caller,
  { after, signal }: FollowEventsInput,
): Promise<FollowedEvents> {
  const { tenantId, principal } = caller;
  if (!readsAll(caller) && !caller.roles.includes('agent')) {
    throw new Fault('forbidden', 'this key reads no approvals, so it hears of none. Use an approver’s');
  }
  const ending = new AbortController();
  const over = ending.signal;
  const end = (): void => {
    signal.removeEventListener('abort', end);
    ending.abort();
  };
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    const scope = { tenantId, agent: readsAll(caller) ? null : principal };
    const { reader, leave } = await deps.eventFeeds.join(caller, scope, after, over);
    if (over.aborted) leave();
    else over.addEventListener('abort', leave);
    watchKey(deps, caller, over).then(end, end);
    return { reader, over, close: end };
  } catch (error) {
    end();
    throw error;
  }
}
