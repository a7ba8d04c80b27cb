import { foreignKey, index, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { JsonObject } from '../core/json.ts';
import type { BaseRules, PolicyTexts, ToolPermission } from '../core/rules.ts';
import { createdAt, instant } from './columns.ts';
import { tenants } from './schema.ts';

// What decisions are made from. Rows are never changed: activating one is an event of its own.

/** Rules of policy folders, by the digest of their canonical form; every tenant starts from the newest activated. */
export const baseRules = pgTable('base_rules', {
  digest: text('digest').primaryKey(),
  rules: jsonb('rules').$type<BaseRules>().notNull(),
  createdAt: createdAt(),
  activatedAt: instant('activated_at').notNull(),
});

export const revisions = pgTable(
  'revisions',
  {
    tenantId: text('tenant_id').notNull(),
    revision: text('revision').notNull(),
    baseDigest: text('base_digest').notNull(),
    policies: jsonb('policies').$type<PolicyTexts>().notNull(),
    tools: jsonb('tools').$type<JsonObject[]>().notNull(),
    permissions: jsonb('permissions').$type<ToolPermission[]>().notNull(),
    note: text('note'),
    createdBy: text('created_by'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.revision] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.tenantId] }),
    foreignKey({ columns: [t.baseDigest], foreignColumns: [baseRules.digest] }),
  ],
);

export const activations = pgTable(
  'activations',
  {
    tenantId: text('tenant_id').notNull(),
    activationId: uuid('activation_id').notNull(),
    revision: text('revision').notNull(),
    /** The revision it took the place of; null for a tenant's first. */
    replaced: text('replaced'),
    activatedBy: text('activated_by'),
    activatedAt: instant('activated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.activationId] }),
    foreignKey({
      columns: [t.tenantId, t.revision],
      foreignColumns: [revisions.tenantId, revisions.revision],
    }),
    index('activations_revision').on(t.tenantId, t.revision, t.activatedAt),
  ],
);
