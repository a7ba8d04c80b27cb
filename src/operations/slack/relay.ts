import { approvalsSubject } from '../../core/asker_ports.ts';
import type { EventPosition } from '../../core/event_ports.ts';
import type { Masker } from '../../core/masker.ts';
import {
  NOT_BEGUN,
  type SlackMessageRecord,
  type SlackMessenger,
  SlackTrouble,
} from '../../core/slack_ports.ts';
import type { Deps } from '../deps.ts';
import { maskerOf } from '../masking.ts';
import { pause } from '../pause.ts';
import { toNotice } from './notice.ts';

export type RelayDeps = Pick<Deps, 'approvals' | 'events' | 'now' | 'signals' | 'slack'>;

export interface RelayOptions {
  tenantId: string;
  /** Names this process among those that relay. */
  holder: string;
  messenger: SlackMessenger;
  /** Told of each failure; what was to be told is told later. */
  onTrouble: (error: unknown) => void;
}

/** How long the relay is held at once. Longer than Slack may take for one message, twice over. */
const LEASE_SECONDS = 30;
const LEASE_LEFT_MIN_MS = 15_000;
/** How often it looks by itself, for events and for a relay that nobody holds. */
const LOOK_MS = 5_000;
/** When it looks again for events that cannot be told yet: twice as late each time, while nothing can be told. */
const SETTLE_MS = 25;
const SETTLE_MS_MAX = 400;
const PAGE_MAX = 200;
/** Waits after failures in a row: twice as long each time, and as long as Slack asks for, within reason. */
const BACKOFF_MS = 500;
const BACKOFF_MS_MAX = 60_000;
const RETRY_AFTER_MS_MAX = 10 * 60_000;

/** When to look again: `heard` as soon as anything happens, or else only when the time is over. */
interface Next {
  waitMs: number;
  heard: boolean;
}

/**
 * Tells one tenant's approvals in Slack, as they stand when it gets to them: a backlog posts none that was decided
 * meanwhile, and a message shows the last state, not each in between. One process at a time does so.
 */
class SlackRelay {
  readonly #deps: RelayDeps;
  readonly #options: RelayOptions;
  /** What was told but could not be noted: it must not be told twice. */
  readonly #unkept = new Map<string, SlackMessageRecord>();
  #cursor: EventPosition | undefined;
  #heldUntil = 0;
  #settleMs = SETTLE_MS;
  #masker: Masker | undefined;

  constructor(deps: RelayDeps, options: RelayOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Tells a page of what has happened. @throws SlackTrouble, Fault `unavailable`: the page is told again. */
  async step(): Promise<Next> {
    const { tenantId, holder } = this.#options;
    if (!(await this.hold())) return { waitMs: LOOK_MS, heard: false };
    const cursor = this.#cursor as EventPosition;
    if (cursor.xid === NOT_BEGUN.xid && cursor.seq === NOT_BEGUN.seq) return this.#begin();
    const { items, isUnsettled } = await this.#deps.events.listAfter(tenantId, cursor, null, PAGE_MAX);
    for (const approvalId of new Set(items.map((event) => event.approvalId))) await this.#show(approvalId);
    const last = items.at(-1)?.position;
    if (last !== undefined) {
      if (!(await this.#deps.slack.advance(tenantId, holder, last))) this.#heldUntil = 0;
      else this.#cursor = last;
    }
    if (items.length === PAGE_MAX) return { waitMs: 0, heard: false };
    if (!isUnsettled) return { waitMs: LOOK_MS, heard: true };
    this.#settleMs = items.length > 0 ? SETTLE_MS : Math.min(this.#settleMs * 2, SETTLE_MS_MAX);
    return { waitMs: this.#settleMs, heard: false };
  }

  /** Takes or keeps the relay; false while another process has it. */
  async hold(): Promise<boolean> {
    const now = this.#deps.now().getTime();
    if (this.#heldUntil - now > LEASE_LEFT_MIN_MS) return true;
    const { tenantId, holder } = this.#options;
    if (this.#masker === undefined) {
      const maskKey = await this.#deps.slack.readMaskKey(tenantId);
      if (maskKey === undefined) throw new SlackTrouble(`there is no tenant \`${tenantId}\``, null);
      this.#masker = maskerOf({ tenant: { maskKey } });
    }
    const cursor = await this.#deps.slack.holdRelay(tenantId, holder, LEASE_SECONDS);
    this.#heldUntil = cursor === undefined ? 0 : now + LEASE_SECONDS * 1000;
    this.#cursor = cursor;
    return cursor !== undefined;
  }

  async release(): Promise<void> {
    if (this.#heldUntil === 0) return;
    this.#heldUntil = 0;
    await this.#deps.slack.releaseRelay(this.#options.tenantId, this.#options.holder);
  }

  /** The first time of all: what waits for a decision is told, what happened before is not. */
  async #begin(): Promise<Next> {
    const { tenantId, holder } = this.#options;
    const head = await this.#deps.events.readHead(tenantId);
    for (const approvalId of await this.#listPending()) await this.#show(approvalId);
    if (await this.#deps.slack.advance(tenantId, holder, head)) this.#cursor = head;
    else this.#heldUntil = 0;
    return { waitMs: 0, heard: false };
  }

  /** Oldest first. */
  async #listPending(): Promise<string[]> {
    const found: string[] = [];
    let before: string | null = null;
    do {
      const page = await this.#deps.approvals.list(this.#options.tenantId, {
        status: 'pending',
        agent: null,
        tool: null,
        outcomeMissing: false,
        limit: PAGE_MAX,
        before,
      });
      found.push(...page.items.map((approval) => approval.approvalId));
      before = page.next;
    } while (before !== null);
    return found.reverse();
  }

  /** Posts an approval that waits for a decision, or changes its message where that shows something else by now. */
  async #show(approvalId: string): Promise<void> {
    const { slack, approvals } = this.#deps;
    const { tenantId, messenger } = this.#options;
    if (!(await this.hold()) || this.#masker === undefined)
      throw new SlackTrouble('another process relays', null);
    const unkept = this.#unkept.get(approvalId);
    const former = unkept ?? (await slack.findMessage(tenantId, approvalId));
    const approval = await approvals.find(tenantId, approvalId);
    if (approval === undefined || (former === undefined && approval.status !== 'pending')) return;
    const message = messenger.render(toNotice(approval, this.#masker));
    if (former === undefined || former.shownDigest !== message.digest) {
      const place = await messenger.send(message, former);
      this.#unkept.set(approvalId, { ...place, shownDigest: message.digest });
    }
    const toKeep = this.#unkept.get(approvalId);
    if (toKeep === undefined) return;
    await slack.keepMessage(tenantId, approvalId, toKeep);
    this.#unkept.delete(approvalId);
  }
}

function waitAfter(error: unknown, failures: number): number {
  const backoff = Math.min(BACKOFF_MS * 2 ** Math.min(failures, 20), BACKOFF_MS_MAX);
  const asked = error instanceof SlackTrouble ? error.retryAfterMs : null;
  return asked === null ? backoff : Math.min(Math.max(asked, BACKOFF_MS), RETRY_AFTER_MS_MAX);
}

/** Waits, and keeps the relay meanwhile: whoever took it would go at Slack at once. */
async function waitHolding(relay: SlackRelay, waitMs: number, stopping: AbortSignal): Promise<void> {
  for (let left = waitMs; left > 0 && !stopping.aborted; left -= LOOK_MS) {
    await pause(Math.min(left, LOOK_MS), stopping);
    await relay.hold().catch(() => false);
  }
}

/**
 * Tells a tenant's approvals in Slack until `stopping` aborts. A Slack or a database that is away delays it and loses
 * nothing. A message is posted once, unless the process dies, or Slack's answer is lost, between the post and the note
 * of it: then twice. Never rejects.
 */
export async function relayToSlack(
  deps: RelayDeps,
  options: RelayOptions,
  stopping: AbortSignal,
): Promise<void> {
  const subscription = deps.signals.subscribe([approvalsSubject(options.tenantId)]);
  const relay = new SlackRelay(deps, options);
  let failures = 0;
  while (!stopping.aborted) {
    try {
      const { waitMs, heard } = await relay.step();
      failures = 0;
      if (heard) await subscription.next(new Date(deps.now().getTime() + waitMs), stopping);
      else await pause(waitMs, stopping);
    } catch (error) {
      options.onTrouble(error);
      await waitHolding(relay, waitAfter(error, failures), stopping);
      failures += 1;
    }
  }
  subscription.close();
  await relay.release().catch(options.onTrouble);
}
