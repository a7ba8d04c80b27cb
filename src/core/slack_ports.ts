import type { ApprovalStatus, VoidReason } from './approval.ts';
import type { EventPosition } from './event_ports.ts';
import type { ReviewLine, ReviewWarning } from './review.ts';

// What deciding and telling in Slack needs of the outside. Errors are those of `ports.ts`.

/** Where an approval was posted, and what the message shows. */
export interface SlackMessageRecord {
  channel: string;
  /** Slack's own id of the message; empty for one that Slack gave none for. */
  ts: string;
  shownDigest: string;
}

/** What a key needs that is made for somebody who decides in Slack and never had one. */
export interface FreshKey {
  keyId: string;
  /** Of a token that is given to nobody. */
  tokenHash: string;
}

/** With which key a Slack user acts; `tokenHash` is for `KeyStore.findCaller`. */
export type SlackUserKey =
  | { kind: 'key'; tokenHash: string }
  | { kind: 'unmapped' }
  | { kind: 'disabled' }
  | { kind: 'keyless' };

export interface SlackStore {
  /**
   * The key with which a Slack user acts: the newest standing approver key of the principal that an operator mapped it
   * to, other than those of console sessions. Somebody who never had a key but those is given `fresh`, as an approver:
   * operators see it among the keys and can revoke it. Whose keys were all revoked has none.
   */
  findUserKey(tenantId: string, slackUser: string, fresh: FreshKey): Promise<SlackUserKey>;
  /**
   * Takes or keeps the relay of a tenant's events for so many seconds, and says how far it has come; `NOT_BEGUN` before
   * the first `advance`. Undefined while another holder has it.
   */
  holdRelay(tenantId: string, holder: string, seconds: number): Promise<EventPosition | undefined>;
  /** Says how far the relay has come; false, and nothing is kept, when another holder has it by now. */
  advance(tenantId: string, holder: string, position: EventPosition): Promise<boolean>;
  /** Lets another holder have the relay at once. */
  releaseRelay(tenantId: string, holder: string): Promise<void>;
  findMessage(tenantId: string, approvalId: string): Promise<SlackMessageRecord | undefined>;
  /** Keeps where an approval was posted, in place of what was kept before. */
  keepMessage(tenantId: string, approvalId: string, message: SlackMessageRecord): Promise<void>;
  /** What keys the fingerprints of the tenant's masked values; undefined without such a tenant. */
  readMaskKey(tenantId: string): Promise<string | undefined>;
}

/** The position before all events. */
export const NOT_BEGUN: EventPosition = { xid: '0', seq: '0' };

/**
 * All that is told of an approval in Slack. Secrets are masked, and texts of others are fit to be shown: they hold no
 * character that has no look of its own.
 */
export interface SlackNotice {
  /** With its prefix. */
  approvalId: string;
  version: number;
  status: ApprovalStatus;
  actionHash: string;
  viewHash: string;
  tool: string;
  action: string;
  agent: string;
  owner: string | null;
  /** Where it would run, by name: workspace, environment and the like. */
  places: { name: string; value: string }[];
  /** The agent's own words. */
  justification: string | null;
  /** Why policy asks. */
  reason: string;
  policies: string[];
  lines: ReviewLine[];
  warnings: ReviewWarning[];
  /** Whether the call destroys something, by the registry's word; true where that is not known. */
  isDestructive: boolean;
  /** How often the agent ran the same action in the 24 hours before this was read, as far as it is counted. */
  recentRuns: number;
  needs: { votes: number; groups: string[]; isSigned: boolean };
  votes: { approver: string; decision: 'approve' | 'reject'; at: Date; reason: string | null }[];
  /** Votes that are missing, and the groups of which one is needed. */
  missing: { votes: number; groups: string[] };
  edits: { editor: string; at: string; reason: string | null }[];
  decidedBy: string | null;
  decidedAt: Date | null;
  decisionReason: string | null;
  voidReason: VoidReason | null;
  consumedAt: Date | null;
  expiresAt: Date;
}

/** A message made of a notice. */
export interface SlackMessage {
  /** For notifications, and where blocks cannot be shown. */
  text: string;
  /** Block Kit. */
  blocks: object[];
  /** Told instead when Slack refuses the blocks: that it cannot be shown, and where it is. */
  bare: { text: string; blocks: object[] };
  /** Differs whenever a reader should be told something else. */
  digest: string;
  /** Whether it waits for a decision. */
  isOpen: boolean;
}

/** Slack could not be told. What was to be told is to be told later. */
export class SlackTrouble extends Error {
  /** How long Slack asked to be left alone; null when it did not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null, cause?: unknown) {
    super(message, { cause });
    this.name = 'SlackTrouble';
    this.retryAfterMs = retryAfterMs;
  }
}

export interface SlackMessenger {
  /** Pure: the same notice makes the same message. */
  render(notice: SlackNotice): SlackMessage;
  /**
   * Posts a message or, where this messenger can and the former is still there, changes the former one to it.
   * @throws SlackTrouble when Slack was not reached, was too slow, limits the rate, or does not let us; the message may
   *   be there all the same when the answer was lost.
   */
  send(
    message: SlackMessage,
    former: SlackMessageRecord | undefined,
  ): Promise<{ channel: string; ts: string }>;
}
