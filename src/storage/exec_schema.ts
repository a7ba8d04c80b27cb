import { foreignKey, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { ExecApprovalsDocument } from '../core/exec_approvals.ts';
import { instant } from './columns.ts';
import { tenants } from './schema.ts';

// What operators let agents run.

/** One document of a tenant, and one for each node that has its own. */
export const execApprovals = pgTable(
  'exec_approvals',
  {
    tenantId: text('tenant_id').notNull(),
    /** `''` for the tenant's own. */
    nodeId: text('node_id').notNull(),
    document: jsonb('document').$type<ExecApprovalsDocument>().notNull(),
    /** SHA-256 of the document's canonical form. */
    hash: text('hash').notNull(),
    updatedAt: instant('updated_at').notNull(),
    updatedBy: text('updated_by').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.nodeId] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.tenantId] }),
  ],
);

/** The last use of each entry; beside the document, so that its hash moves with its rules alone. */
export const execEntryUses = pgTable(
  'exec_entry_uses',
  {
    tenantId: text('tenant_id').notNull(),
    nodeId: text('node_id').notNull(),
    entryId: text('entry_id').notNull(),
    usedAt: instant('used_at').notNull(),
    /** Masked. */
    command: text('command').notNull(),
    resolvedPath: text('resolved_path').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.nodeId, t.entryId] }),
    foreignKey({
      columns: [t.tenantId, t.nodeId],
      foreignColumns: [execApprovals.tenantId, execApprovals.nodeId],
      name: 'exec_entry_uses_document',
    }).onDelete('cascade'),
  ],
);
