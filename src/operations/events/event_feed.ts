import { approvalsSubject } from '../../core/asker_ports.ts';
import { type EventPosition, type EventStore, isAfter } from '../../core/event_ports.ts';
import type { Signals } from '../../core/ports.ts';
import { pause } from '../pause.ts';
import type { Teller, ToldEvent } from './told_events.ts';

export interface FeedDeps {
  events: EventStore;
  signals: Signals;
  /** The process's clock, for timers. */
  now: () => Date;
}

/** Events that are kept for whoever has not taken them yet; who is further behind reads the store. */
const RING_MAX = 500;
/** Events read at once. */
const PAGE_MAX = 200;
/** How often it looks by itself, where nothing is heard. */
const LOOK_MS = 5_000;
/** What happens within this time is told together; where looking takes longer, that long is not looked. */
const GAP_MS = 10;
/** When it looks again for events that cannot be told yet: twice as late each time, while nothing can be told. */
const SETTLE_MS = 25;
const SETTLE_MS_MAX = 200;
/** When it looks again after the store did not answer. */
const RETRY_MS = 250;

/** What was found: how many, and whether there are more, or some that cannot be told yet. */
interface Found {
  count: number;
  rest: 'more' | 'unsettled' | 'none';
}

/** Whoever waits for the next events. */
export interface FeedListener {
  wake(): void;
}

/**
 * One tenant's events as they happen, in this process, for any number of readers: read once, told once, and kept in a
 * ring that does not grow. It never knows its readers' pace.
 */
export class EventFeed {
  readonly #deps: FeedDeps;
  readonly #tenantId: string;
  readonly #tell: Teller;
  readonly #listeners = new Set<FeedListener>();
  /** Every event after `#start`, up to `#head`. */
  #ring: ToldEvent[] = [];
  #start: EventPosition;
  #head: EventPosition;

  constructor(deps: FeedDeps, tenantId: string, tell: Teller, head: EventPosition) {
    this.#deps = deps;
    this.#tenantId = tenantId;
    this.#tell = tell;
    this.#start = head;
    this.#head = head;
  }

  /** The position from which on the ring has everything. */
  get start(): EventPosition {
    return this.#start;
  }

  /** The next of the ring after a position, at most `limit`; undefined when the ring no longer has them all. */
  take(after: EventPosition, limit: number): readonly ToldEvent[] | undefined {
    if (isAfter(this.#start, after)) return undefined;
    let from = 0;
    let to = this.#ring.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isAfter((this.#ring[middle] as ToldEvent).position, after)) to = middle;
      else from = middle + 1;
    }
    return this.#ring.slice(from, from + limit);
  }

  /** Wakes `listener` at everything new, until what this returns is called. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Follows the store until `signal` aborts. What cannot be read now is told when it can be; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    const subscription = this.#deps.signals.subscribe([approvalsSubject(this.#tenantId)]);
    let settleMs = SETTLE_MS;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const found = await this.#look().catch(() => undefined);
      if (found === undefined) {
        await pause(RETRY_MS, signal);
      } else if (found.rest === 'unsettled') {
        settleMs = found.count > 0 ? SETTLE_MS : Math.min(settleMs * 2, SETTLE_MS_MAX);
        await pause(settleMs, signal);
      } else if (found.rest === 'none') {
        await pause(Math.max(GAP_MS, performance.now() - startedAt), signal);
        await subscription.next(new Date(this.#deps.now().getTime() + LOOK_MS), signal);
      }
    }
    subscription.close();
  }

  async #look(): Promise<Found> {
    const { events } = this.#deps;
    const { items, isUnsettled } = await events.listAfter(this.#tenantId, this.#head, null, PAGE_MAX);
    this.#add(await this.#tell(items));
    const count = items.length;
    if (count === PAGE_MAX) return { count, rest: 'more' };
    return { count, rest: isUnsettled ? 'unsettled' : 'none' };
  }

  #add(told: readonly ToldEvent[]): void {
    const last = told.at(-1);
    if (last === undefined) return;
    this.#head = last.position;
    this.#ring.push(...told);
    const dropped = this.#ring.splice(0, Math.max(this.#ring.length - RING_MAX, 0));
    this.#start = dropped.at(-1)?.position ?? this.#start;
    for (const listener of this.#listeners) listener.wake();
  }
}
