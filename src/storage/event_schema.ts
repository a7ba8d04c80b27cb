import { sql } from 'drizzle-orm';
import { bigint, foreignKey, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { ApprovalStatus } from '../core/approval.ts';
import type { ApprovalEventType } from '../core/event_ports.ts';
import { instant, xid8 } from './columns.ts';
import { approvals, principals, tenants } from './schema.ts';

// What is told of approvals, and how far those who are told have come.

/**
 * What happened to approvals. Triggers on `approvals` and `votes` write it, in the transaction of the change itself
 * (ONE TRANSACTION). Events are told in the order of (xid, seq), each as soon as no earlier transaction can still add
 * one before it.
 */
export const approvalEvents = pgTable(
  'approval_events',
  {
    tenantId: text('tenant_id').notNull(),
    xid: xid8('xid').notNull().default(sql`pg_current_xact_id()`),
    seq: bigint('seq', { mode: 'bigint' }).notNull().generatedAlwaysAsIdentity(),
    approvalId: uuid('approval_id').notNull(),
    agent: text('agent').notNull(),
    type: text('type').$type<ApprovalEventType>().notNull(),
    /** The approval as the change left it. */
    version: integer('version').notNull(),
    status: text('status').$type<ApprovalStatus>().notNull(),
    actionHash: text('action_hash').notNull(),
    at: instant('at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.xid, t.seq] }),
    index('approval_events_at').on(t.tenantId, t.at),
  ],
);

/** The first time that an approver was shown an approval. */
export const approvalViews = pgTable(
  'approval_views',
  {
    tenantId: text('tenant_id').notNull(),
    approvalId: uuid('approval_id').notNull(),
    principal: text('principal').notNull(),
    shownAt: instant('shown_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.approvalId, t.principal] }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
    foreignKey({
      columns: [t.tenantId, t.principal],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
  ],
);

/** How far a tenant's events were passed on to Slack and the like; webhooks have their own. */
export const eventCursors = pgTable(
  'event_cursors',
  {
    tenantId: text('tenant_id').notNull(),
    subscriber: text('subscriber').notNull(),
    xid: xid8('xid').notNull(),
    seq: bigint('seq', { mode: 'bigint' }).notNull(),
    /** The process that passes them on now, and until when it has that to itself. */
    leaseHolder: text('lease_holder'),
    leaseUntil: instant('lease_until'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.subscriber] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.tenantId] }),
  ],
);
