import type { Writer } from './agent_ports.ts';
import type { ApprovalEvent, ApprovalEventType, EventPosition } from './event_ports.ts';
import type { JsonObject } from './json.ts';

// What operations keep of webhooks, and what passing events on to them needs. Errors are those of `ports.ts`.

/** The subject of `Signals` on which it is heard that there may be something to do for webhooks. */
export const WEBHOOKS_SUBJECT = 'webhooks';

/** Where events of a tenant are sent; its secrets are for whoever signs alone. */
export interface Webhook {
  webhookId: string;
  url: string;
  events: ApprovalEventType[];
  createdBy: string;
  createdAt: Date;
  /** Until when the secret before the last rotation signs as well. */
  formerSecretUntil: Date | null;
  /** When the receiver said that it is gone: nothing new is sent until a redelivery succeeds. */
  disabledAt: Date | null;
}

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  deliveryId: string;
  type: ApprovalEventType;
  status: DeliveryStatus;
  /** Attempts of its present round; a redelivery begins another. */
  attempts: number;
  /** What the last attempt was answered with, or why it had no answer. */
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** A page's place: what comes before the item named, newest first. */
export interface PageQuery {
  limit: number;
  before: string | null;
}

export interface WebhookStore {
  /**
   * Adds a webhook that hears what comes after a position.
   * @throws Fault `invalid_request` when the tenant has `limit` of them; `unauthenticated` as ever.
   */
  create(
    writer: Writer,
    webhook: { webhookId: string; url: string; events: ApprovalEventType[]; secret: string },
    after: EventPosition,
    limit: number,
  ): Promise<Webhook>;
  list(tenantId: string, query: PageQuery): Promise<{ items: Webhook[]; next: string | null }>;
  /** Removes a webhook: its deliveries that are under way end as dead. @throws Fault `not_found`. */
  remove(writer: Writer, webhookId: string): Promise<void>;
  /** Gives it another secret; the one it had signs beside that for so long. @throws Fault `not_found`. */
  rotate(writer: Writer, webhookId: string, secret: string, formerHoldsSeconds: number): Promise<Webhook>;
  /** @throws Fault `not_found` without such a webhook. */
  listDeliveries(
    tenantId: string,
    webhookId: string,
    query: PageQuery & { status: DeliveryStatus | null },
  ): Promise<{ items: WebhookDelivery[]; next: string | null }>;
  /** Sends a delivery once more, at once and with all its attempts, under the same id. @throws Fault `not_found`. */
  redeliver(writer: Writer, webhookId: string, deliveryId: string): Promise<WebhookDelivery>;
}

/** Whether a URL may be called, asked before anything is stored. */
export interface WebhookTargets {
  /** The URL as it would be called, or why it is not: without what a resolver or a network says of inner addresses. */
  examine(url: string): Promise<{ kind: 'allowed'; url: string } | { kind: 'refused'; reason: string }>;
}

/** A webhook as it is passed events on to. */
export interface WebhookReader {
  tenantId: string;
  webhookId: string;
  events: ApprovalEventType[];
  cursor: EventPosition;
  hasNews: boolean;
  /** Deliveries that are due and not finished. */
  due: number;
}

export interface NewDelivery {
  deliveryId: string;
  type: ApprovalEvent['type'];
  payload: string;
}

/** What a delivery's job is given: which attempt it is. One that was overtaken does nothing. */
export interface AttemptTicket extends JsonObject {
  tenant_id: string;
  delivery_id: string;
  round: number;
  attempt: number;
}

export interface DueDelivery {
  webhookId: string;
  url: string;
  payload: string;
  /** The secrets that sign, the present one first. */
  secrets: string[];
}

/** How an attempt ended. `delaySeconds` until the next. Texts are short, and quote nothing of what was answered. */
export type AttemptRecord =
  | { kind: 'delivered'; status: number }
  | { kind: 'retry'; status: number | null; error: string; delaySeconds: number }
  | { kind: 'dead'; status: number | null; error: string }
  /** The receiver wants nothing any more: the webhook is disabled, and all that is under way to it dead. */
  | { kind: 'gone'; status: number };

export interface WebhookOutbox {
  /** The webhooks of all tenants that hear of events, each with how far it came; `dueMax` is where counting ends. */
  listReaders(dueMax: number): Promise<WebhookReader[]>;
  /**
   * Writes deliveries with their jobs and moves the webhook's cursor, in one transaction. False, and nothing has
   * changed, when another process holds or has moved it.
   */
  passOn(reader: WebhookReader, to: EventPosition, deliveries: readonly NewDelivery[]): Promise<boolean>;
  /** What an attempt sends; undefined when it is no longer to be made. */
  findDue(ticket: AttemptTicket): Promise<DueDelivery | undefined>;
  /** Keeps how an attempt ended and, in the same transaction, sends the next one's job. */
  recordAttempt(ticket: AttemptTicket, record: AttemptRecord): Promise<void>;
}
