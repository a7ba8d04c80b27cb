import type { ApprovalStore } from '../../core/approval_ports.ts';
import { tellEvent } from '../../core/approval_summary.ts';
import { approvalsSubject } from '../../core/asker_ports.ts';
import type { ApprovalEvent, EventPosition, EventStore } from '../../core/event_ports.ts';
import type { Masker } from '../../core/masker.ts';
import type { NewUuid, Signals, Subscription } from '../../core/ports.ts';
import {
  type NewDelivery,
  WEBHOOKS_SUBJECT,
  type WebhookOutbox,
  type WebhookReader,
} from '../../core/webhook_ports.ts';

/** How often it is looked when nothing is heard. */
const POLL_MS = 3000;
/** How soon again for events that cannot be told yet: twice as late each time, while an old transaction holds them. */
const UNSETTLED_MS = 25;
const UNSETTLED_MS_MAX = 400;
/** Events read at once. */
const EVENTS_MAX = 100;
/**
 * Deliveries of one webhook that may be due at once. Further events wait where they are: a receiver that hangs holds
 * up its own events, and never has more than its share of the attempts that others need.
 */
const DUE_MAX = 8;

export interface RelayOptions {
  outbox: Pick<WebhookOutbox, 'listReaders' | 'passOn'>;
  events: Pick<EventStore, 'listAfter'>;
  approvals: Pick<ApprovalStore, 'find'>;
  signals: Signals;
  /** The masker of a tenant. */
  maskerOf: (tenantId: string) => Promise<Masker>;
  newUuid: NewUuid;
  /** Called when deliveries may have become due. */
  onDeliveries: () => void;
  onTrouble: (error: unknown) => void;
}

export interface Relay {
  /** Says that an attempt was made: there may be room for further deliveries. */
  tellAttempt(): void;
  close(): Promise<void>;
}

/** What is left to do after a look at all webhooks. */
type Rest = 'more' | 'unsettled' | 'nothing';

/** The message of an event (Standard Webhooks 1.0, "Payload structure"); undefined without its approval. */
async function writeDelivery(
  options: RelayOptions,
  event: ApprovalEvent,
  masker: Masker,
): Promise<NewDelivery | undefined> {
  const approval = await options.approvals.find(event.tenantId, event.approvalId);
  if (approval === undefined) return undefined;
  const { type, at } = event;
  const message = { type, timestamp: at.toISOString(), data: tellEvent(event, approval, masker) };
  return { deliveryId: options.newUuid(), type, payload: JSON.stringify(message) };
}

/** As many events as the webhook has room for, those that it does not hear of among them. */
function takeEvents(reader: WebhookReader, items: readonly ApprovalEvent[]): ApprovalEvent[] {
  let room = DUE_MAX - reader.due;
  const taken: ApprovalEvent[] = [];
  for (const event of items) {
    const isHeard = reader.events.includes(event.type);
    if (isHeard && room === 0) break;
    if (isHeard) room -= 1;
    taken.push(event);
  }
  return taken;
}

async function passOn(options: RelayOptions, reader: WebhookReader): Promise<Rest> {
  const { tenantId, cursor } = reader;
  const { items, isUnsettled } = await options.events.listAfter(tenantId, cursor, null, EVENTS_MAX);
  const taken = takeEvents(reader, items);
  const to: EventPosition | undefined = taken.at(-1)?.position;
  if (to === undefined) return isUnsettled ? 'unsettled' : 'nothing';
  const masker = await options.maskerOf(tenantId);
  const heard = taken.filter(({ type }) => reader.events.includes(type));
  const written = await Promise.all(heard.map((event) => writeDelivery(options, event, masker)));
  const deliveries = written.filter((delivery) => delivery !== undefined);
  // Where another process was faster, what is left is its to find.
  if (!(await options.outbox.passOn(reader, to, deliveries))) return 'nothing';
  if (deliveries.length > 0) options.onDeliveries();
  if (taken.length < items.length || items.length === EVENTS_MAX) return 'more';
  return isUnsettled ? 'unsettled' : 'nothing';
}

/** Hears of the approvals of tenants that have webhooks, and of webhooks. */
class Ear {
  readonly #signals: Signals;
  #tenants = '';
  #subscription: Subscription;

  constructor(signals: Signals) {
    this.#signals = signals;
    this.#subscription = signals.subscribe([WEBHOOKS_SUBJECT]);
  }

  /** True when it hears of other tenants from now on: what happened before has to be read again. */
  turnTo(readers: readonly WebhookReader[]): boolean {
    const tenantIds = [...new Set(readers.map(({ tenantId }) => tenantId))];
    const key = tenantIds.join(' ');
    if (key === this.#tenants) return false;
    this.#tenants = key;
    this.#subscription.close();
    this.#subscription = this.#signals.subscribe([WEBHOOKS_SUBJECT, ...tenantIds.map(approvalsSubject)]);
    return true;
  }

  listen(until: Date, signal: AbortSignal): Promise<void> {
    return this.#subscription.next(until, signal);
  }

  close(): void {
    this.#subscription.close();
  }
}

class RelayLoop implements Relay {
  readonly #options: RelayOptions;
  readonly #ear: Ear;
  #isStopping = false;
  #isHeldBack = false;
  #isLooking = false;
  #isInTrouble = false;
  #pause = new AbortController();
  readonly #loop: Promise<void>;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#ear = new Ear(options.signals);
    this.#loop = this.#run();
  }

  tellAttempt(): void {
    if (this.#isHeldBack || this.#isLooking) this.#pause.abort();
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#pause.abort();
    await this.#loop;
    this.#ear.close();
  }

  async #run(): Promise<void> {
    let unsettledMs = UNSETTLED_MS;
    while (!this.#isStopping) {
      this.#pause = new AbortController();
      const rest = await this.#look();
      const waitMs = rest === 'unsettled' ? unsettledMs : POLL_MS;
      unsettledMs = rest === 'unsettled' ? Math.min(unsettledMs * 2, UNSETTLED_MS_MAX) : UNSETTLED_MS;
      if (rest === 'more') continue;
      await this.#ear.listen(new Date(Date.now() + waitMs), this.#pause.signal);
      // What was heard may be a redelivery's job.
      this.#options.onDeliveries();
    }
  }

  async #look(): Promise<Rest> {
    this.#isLooking = true;
    try {
      return await this.#passAll();
    } catch (error) {
      this.#tell(error);
      return 'nothing';
    } finally {
      this.#isLooking = false;
    }
  }

  async #passAll(): Promise<Rest> {
    const readers = await this.#options.outbox.listReaders(DUE_MAX);
    const rests: Rest[] = [this.#ear.turnTo(readers) ? 'more' : 'nothing'];
    const waiting = readers.filter(({ hasNews }) => hasNews);
    const ready = waiting.filter(({ due }) => due < DUE_MAX);
    this.#isHeldBack = ready.length < waiting.length;
    const troubles: unknown[] = [];
    for (const reader of ready) {
      if (this.#isStopping) break;
      // What is wrong with one webhook's events is no trouble of the others.
      rests.push(
        await passOn(this.#options, reader).catch((error: unknown) => {
          troubles.push(error);
          return 'nothing' as const;
        }),
      );
    }
    if (troubles.length > 0) this.#tell(troubles[0]);
    else this.#isInTrouble = false;
    return rests.find((rest) => rest === 'more') ?? rests.find((rest) => rest === 'unsettled') ?? 'nothing';
  }

  /** Once, until it goes well again. */
  #tell(error: unknown): void {
    if (!this.#isInTrouble) this.#options.onTrouble(error);
    this.#isInTrouble = true;
  }
}

/**
 * Makes deliveries of what happens to approvals, for every webhook of every tenant. Every process has one: each event
 * is passed on by whichever comes first. It is woken after the commit of a change, and looks by itself now and then.
 */
export function startRelay(options: RelayOptions): Relay {
  return new RelayLoop(options);
}
