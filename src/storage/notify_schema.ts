import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ApprovalEventType } from '../core/event_ports.ts';
import { createdAt, instant, xid8 } from './columns.ts';
import { approvals, tenants } from './schema.ts';

// What is sent to others: webhooks with their deliveries, and messages in Slack.

export const webhooks = pgTable(
  'webhooks',
  {
    tenantId: text('tenant_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    url: text('url').notNull(),
    events: text('events').array().$type<ApprovalEventType[]>().notNull(),
    /** Signs every delivery, and so cannot be stored as a hash. */
    secret: text('secret').notNull(),
    /** The secret before the last rotation, which signs beside it for a while. */
    formerSecret: text('former_secret'),
    formerSecretUntil: instant('former_secret_until'),
    /** How far its deliveries were made of the tenant's events. */
    cursorXid: xid8('cursor_xid').notNull(),
    cursorSeq: bigint('cursor_seq', { mode: 'bigint' }).notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: createdAt(),
    /** When the receiver answered that it is gone. */
    disabledAt: instant('disabled_at'),
    deletedAt: instant('deleted_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.webhookId] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.tenantId] }),
    check('webhooks_former', sql`(${t.formerSecret} is null) = (${t.formerSecretUntil} is null)`),
  ],
);

export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    tenantId: text('tenant_id').notNull(),
    deliveryId: uuid('delivery_id').notNull(),
    webhookId: uuid('webhook_id').notNull(),
    type: text('type').$type<ApprovalEventType>().notNull(),
    /** The exact body, the same at each attempt. */
    payload: text('payload').notNull(),
    status: text('status').$type<'pending' | 'delivered' | 'dead'>().notNull().default('pending'),
    /** How often it was sent anew after its attempts; jobs of a former round do nothing. */
    round: integer('round').notNull().default(0),
    attempts: integer('attempts').notNull().default(0),
    lastStatus: integer('last_status'),
    lastError: text('last_error'),
    nextAttemptAt: instant('next_attempt_at'),
    createdAt: createdAt(),
    finishedAt: instant('finished_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.deliveryId] }),
    foreignKey({
      columns: [t.tenantId, t.webhookId],
      foreignColumns: [webhooks.tenantId, webhooks.webhookId],
    }),
    index('webhook_deliveries_webhook').on(t.tenantId, t.webhookId, t.deliveryId),
    index('webhook_deliveries_due')
      .on(t.tenantId, t.webhookId, t.nextAttemptAt)
      .where(sql`status = 'pending'`),
    index('webhook_deliveries_past').on(t.tenantId, t.finishedAt),
    check('webhook_deliveries_status', sql`${t.status} in ('pending', 'delivered', 'dead')`),
    check('webhook_deliveries_finished', sql`(${t.status} = 'pending') = (${t.finishedAt} is null)`),
  ],
);

/** Where in Slack an approval was posted. */
export const slackMessages = pgTable(
  'slack_messages',
  {
    tenantId: text('tenant_id').notNull(),
    approvalId: uuid('approval_id').notNull(),
    channel: text('channel').notNull(),
    /** Slack's own id of the message. */
    ts: text('ts').notNull(),
    /** Digest of what the message shows, so that it is written anew only when that has changed. */
    shownDigest: text('shown_digest').notNull(),
    postedAt: instant('posted_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.approvalId] }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
  ],
);
