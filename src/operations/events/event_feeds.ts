import type { ApprovalStore } from '../../core/approval_ports.ts';
import type { Caller } from '../../core/caller.ts';
import { type EventPosition, isAfter } from '../../core/event_ports.ts';
import { Fault } from '../../core/fault.ts';
import { maskerOf } from '../masking.ts';
import { EventFeed, type FeedDeps } from './event_feed.ts';
import { EventReader, type ReaderScope } from './event_reader.ts';
import { createTeller, type Teller } from './told_events.ts';

/** Readers of one key and of the process; each holds a connection, and little else. */
const READERS_OF_KEY_MAX = 300;
const READERS_MAX = 5_000;
/** Readers that are behind and read the store at once, so that the connections to it remain for others. */
const BEHIND_MAX = 2;
const RETRY_AFTER_SECONDS = 5;

type EventFeedsDeps = FeedDeps & { approvals: Pick<ApprovalStore, 'find'> };

interface OpenFeed {
  ready: Promise<EventFeed>;
  tell: Teller;
  readers: number;
  ending: AbortController;
}

/** The feeds of this process. */
export interface EventFeeds {
  /**
   * Places a reader after `after`, or behind all that has happened. Call `leave` when it is over.
   * @throws Fault `throttled` when the key or the process has too many; `unavailable`.
   */
  join(
    caller: Caller,
    scope: ReaderScope,
    after: EventPosition | undefined,
    over: AbortSignal,
  ): Promise<{ reader: EventReader; leave: () => void }>;
}

/** Runs at most `max` at once, the others in the order in which they came. */
function createTurns(max: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next in line, or is free.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Counts readers. */
function createPlaces() {
  const ofKeys = new Map<string, number>();
  let all = 0;
  const refuse = (who: string, max: number): Fault =>
    new Fault('throttled', `${who} reads ${max} event streams already. Close some, or share one`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  return {
    /** Takes a place; returns what gives it back. @throws Fault `throttled`. */
    take: (keyId: string): (() => void) => {
      const ofKey = ofKeys.get(keyId) ?? 0;
      if (ofKey >= READERS_OF_KEY_MAX) throw refuse('this key', READERS_OF_KEY_MAX);
      if (all >= READERS_MAX) throw refuse('this process', READERS_MAX);
      ofKeys.set(keyId, ofKey + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (ofKeys.get(keyId) ?? 1) - 1;
        if (left === 0) ofKeys.delete(keyId);
        else ofKeys.set(keyId, left);
      };
    },
  };
}

/** One feed for each tenant that has readers here, which all of them share; it ends with the last. */
export function createEventFeeds(deps: EventFeedsDeps): EventFeeds {
  const feeds = new Map<string, OpenFeed>();
  const places = createPlaces();
  const inTurn = createTurns(BEHIND_MAX);

  const open = (caller: Caller): OpenFeed => {
    const { tenantId } = caller;
    const tell = createTeller(deps.approvals, tenantId, maskerOf(caller));
    const ending = new AbortController();
    const start = async (): Promise<EventFeed> => {
      const feed = new EventFeed(deps, tenantId, tell, await deps.events.readHead(tenantId));
      void feed.follow(ending.signal);
      return feed;
    };
    const opened = { ready: start(), tell, readers: 0, ending };
    feeds.set(tenantId, opened);
    return opened;
  };

  const leaveFeed = (tenantId: string, feed: OpenFeed): void => {
    feed.readers -= 1;
    if (feed.readers > 0) return;
    feed.ending.abort();
    if (feeds.get(tenantId) === feed) feeds.delete(tenantId);
  };

  return {
    join: async (caller, scope, after, over) => {
      const { tenantId } = caller;
      const givePlaceBack = places.take(caller.keyId);
      const opened = feeds.get(tenantId) ?? open(caller);
      opened.readers += 1;
      const leave = (): void => {
        givePlaceBack();
        leaveFeed(tenantId, opened);
      };
      try {
        const feed = await opened.ready;
        const head = await deps.events.readHead(tenantId);
        // A place that is yet to come is another database's: nobody would hear anything for as long.
        const position = after === undefined || isAfter(after, head) ? head : after;
        const source = { feed, events: deps.events, tell: opened.tell, inTurn };
        return { reader: new EventReader(source, scope, position, over), leave };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
