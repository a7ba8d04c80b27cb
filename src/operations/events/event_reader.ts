import { type EventPosition, type EventStore, isAfter } from '../../core/event_ports.ts';
import { pause } from '../pause.ts';
import type { EventFeed } from './event_feed.ts';
import type { Teller, ToldEvent } from './told_events.ts';

/** Events that one look takes; of those that a reader is given together the last is the first beyond the characters. */
const TAKEN_MAX = 64;
const CHARACTERS_MAX = 64 * 1024;
/** When a reader that is behind looks again after the store did not answer. */
const RETRY_MS = 250;

/** What a reader reads from; `inTurn` lets few that are behind read the store at once. */
export interface ReaderSource {
  feed: EventFeed;
  events: EventStore;
  tell: Teller;
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Whose events a reader hears: those of all agents of the tenant, or of one. */
export interface ReaderScope {
  tenantId: string;
  agent: string | null;
}

interface Taken {
  items: readonly ToldEvent[];
  /** Up to where all was looked at. */
  upTo: EventPosition;
}

/** As many of the first as are given together. */
function cutToSize(items: readonly ToldEvent[]): readonly ToldEvent[] {
  let characters = 0;
  const end = items.findIndex(({ json }) => {
    characters += json.length;
    return characters > CHARACTERS_MAX;
  });
  return end === -1 ? items : items.slice(0, end + 1);
}

/**
 * One reader's place in a tenant's events. It is asked, and never sends: what it has not been asked for yet waits in
 * the feed's ring or in the store, so that a slow reader costs no memory and holds up nobody.
 */
export class EventReader {
  readonly #source: ReaderSource;
  readonly #scope: ReaderScope;
  readonly #over: AbortSignal;
  #position: EventPosition;

  /** Begins after `position`, and ends when `over` aborts. */
  constructor(source: ReaderSource, scope: ReaderScope, position: EventPosition, over: AbortSignal) {
    this.#source = source;
    this.#scope = scope;
    this.#position = position;
    this.#over = over;
  }

  /** Behind all that it has been given, or need not be given. */
  get position(): EventPosition {
    return this.#position;
  }

  /**
   * The next events, as soon as there are any; none once `waitMs` have passed without, and undefined when it is over.
   * Ask again only when it has answered.
   */
  async next(waitMs: number): Promise<readonly ToldEvent[] | undefined> {
    const until = performance.now() + waitMs;
    for (;;) {
      if (this.#over.aborted) return undefined;
      const items = this.#takeFromRing() ?? (await this.#takeFromStore());
      if (this.#over.aborted) return undefined;
      if (items.length > 0) return items;
      const left = until - performance.now();
      if (left <= 0) return [];
      // Nothing is awaited between the look at the ring and this, so that what is added meanwhile wakes it.
      if (this.#isInRing()) await this.#waitForNews(left);
    }
  }

  #isInRing(): boolean {
    return this.#source.feed.take(this.#position, 1)?.length === 0;
  }

  #takeFromRing(): readonly ToldEvent[] | undefined {
    const taken = this.#source.feed.take(this.#position, TAKEN_MAX);
    return taken && this.#accept({ items: taken, upTo: taken.at(-1)?.position ?? this.#position });
  }

  /** A page of what the ring no longer has; nothing, after a while, when the store does not answer. */
  async #takeFromStore(): Promise<readonly ToldEvent[]> {
    const { feed, events, tell, inTurn } = this.#source;
    const { tenantId, agent } = this.#scope;
    // All events up to here can be told by now: none of them is missed by the page that is read after.
    const { start } = feed;
    try {
      const items = await inTurn(async () => {
        if (this.#over.aborted) return [];
        const page = await events.listAfter(tenantId, this.#position, agent, TAKEN_MAX);
        return tell(page.items);
      });
      const last = items.at(-1)?.position ?? this.#position;
      return this.#accept({ items, upTo: items.length < TAKEN_MAX && isAfter(start, last) ? start : last });
    } catch {
      await pause(RETRY_MS, this.#over);
      return [];
    }
  }

  #accept({ items, upTo }: Taken): readonly ToldEvent[] {
    const { agent } = this.#scope;
    const own = agent === null ? items : items.filter((event) => event.agent === agent);
    const given = cutToSize(own);
    this.#position = given.length < own.length ? (given.at(-1) as ToldEvent).position : upTo;
    return given;
  }

  #waitForNews(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#over.removeEventListener('abort', finish);
        unlisten();
        resolve();
      };
      const timer = setTimeout(finish, waitMs);
      const unlisten = this.#source.feed.listen({ wake: finish });
      this.#over.addEventListener('abort', finish);
    });
  }
}
