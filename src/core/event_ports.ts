import type { ApprovalStatus } from './approval.ts';

// What is told of approvals. Errors are those of `ports.ts`.

export const APPROVAL_EVENT_TYPES = [
  'approval.requested',
  'approval.edited',
  'approval.voted',
  'approval.decided',
  'approval.consumed',
  'approval.cancelled',
  'approval.expiring',
  'approval.expired',
  'approval.voided',
] as const;
export type ApprovalEventType = (typeof APPROVAL_EVENT_TYPES)[number];

/** A place in a tenant's events: decimal numbers, compared as such, `xid` first. */
export interface EventPosition {
  xid: string;
  seq: string;
}

/** One thing that happened to an approval, with the approval as that left it. */
export interface ApprovalEvent {
  tenantId: string;
  position: EventPosition;
  type: ApprovalEventType;
  approvalId: string;
  agent: string;
  version: number;
  status: ApprovalStatus;
  actionHash: string;
  at: Date;
}

export interface EventStore {
  /**
   * A tenant's events after a position, oldest first, at most `limit`, or those of one agent alone. None is ever added
   * before one that was given. `isUnsettled` when some have happened that cannot be told yet, because a transaction
   * that began earlier still goes on: look again soon.
   */
  listAfter(
    tenantId: string,
    after: EventPosition,
    agent: string | null,
    limit: number,
  ): Promise<{ items: ApprovalEvent[]; isUnsettled: boolean }>;
  /** The position behind all that can be told now: who starts here hears what is new. */
  readHead(tenantId: string): Promise<EventPosition>;
}

/** An approval of which an expiry was told just now. */
export interface ToldExpiry {
  tenantId: string;
  approvalId: string;
}

/** What was told of expiries in one go. */
export interface ToldExpiries {
  /** Pending, with a fifth of its life left. */
  expiring: ToldExpiry[];
  /** Its time has passed; `wasShown` is whether any approver was ever shown it, `status` what it was until then. */
  expired: (ToldExpiry & { status: 'pending' | 'approved'; wasShown: boolean })[];
  /** Whether there may be more that is due by now. */
  hasMore: boolean;
}

export interface ExpiryStore {
  /**
   * Tells of every tenant's approvals that are about to expire or have expired, each once, whichever process looks
   * first. What somebody else holds, or is too much for one go, is left for the next.
   */
  tellExpiries(): Promise<ToldExpiries>;
}

/** True when `a` comes after `b`. */
export function isAfter(a: EventPosition, b: EventPosition): boolean {
  return BigInt(a.xid) === BigInt(b.xid) ? BigInt(a.seq) > BigInt(b.seq) : BigInt(a.xid) > BigInt(b.xid);
}

/** Within what the database's types hold: 64 bits without a sign, and with one. */
const POSITION = /^(0|[1-9][0-9]{0,18})-(0|[1-9][0-9]{0,17})$/;

/** An event's id on the wire, for `Last-Event-ID`. */
export function formatEventId({ xid, seq }: EventPosition): string {
  return `${xid}-${seq}`;
}

/** The position that an event's id names; undefined for any other text. */
export function parseEventId(id: string): EventPosition | undefined {
  const parts = POSITION.exec(id);
  return parts?.[1] === undefined || parts[2] === undefined ? undefined : { xid: parts[1], seq: parts[2] };
}
