import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import type { SourceTrust, Tier } from '../core/action.ts';
import type { Scope } from '../core/policy.ts';
import { createdAt, instant } from './columns.ts';
import { approvals, principals } from './schema.ts';

// What is kept of agents beside their decisions and approvals.

/** Sessions that something is known of: (tenant, agent, session id). Nobody else's id is yours. */
export const sessions = pgTable(
  'sessions',
  {
    tenantId: text('tenant_id').notNull(),
    agent: text('agent').notNull(),
    sessionId: text('session_id').notNull(),
    /** Null follows the tenant's. */
    tier: text('tier').$type<Tier>(),
    /** Since the last resume. */
    rejections: integer('rejections').notNull().default(0),
    pausedAt: instant('paused_at'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.agent, t.sessionId] }),
    foreignKey({
      columns: [t.tenantId, t.agent],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
    check('sessions_tier', sql`${t.tier} in ('ask', 'auto', 'full')`),
  ],
);

/** Pauses of whole agents. A table of its own: it is written under an approval's lock, a principal's row never is. */
export const agentPauses = pgTable(
  'agent_pauses',
  {
    tenantId: text('tenant_id').notNull(),
    agent: text('agent').notNull(),
    pausedAt: instant('paused_at'),
    /** Rejections before this no longer count towards a pause. */
    resumedAt: instant('resumed_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.agent] }),
    foreignKey({
      columns: [t.tenantId, t.agent],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
  ],
);

/** The denial ledger: what people have rejected. */
export const denials = pgTable(
  'denials',
  {
    tenantId: text('tenant_id').notNull(),
    denialId: uuid('denial_id').notNull(),
    agent: text('agent').notNull(),
    /** Digest of {tenant, agent, resolved tool and action, resource, parameters}. */
    digest: text('digest').notNull(),
    sessionId: text('session_id'),
    resolvedTool: text('resolved_tool').notNull(),
    resolvedAction: text('resolved_action').notNull(),
    actionHash: text('action_hash').notNull(),
    approvalId: uuid('approval_id').notNull(),
    deniedBy: text('denied_by').notNull(),
    reason: text('reason'),
    createdAt: createdAt(),
    liftedAt: instant('lifted_at'),
    liftedBy: text('lifted_by'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.denialId] }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
    index('denials_digest').on(t.tenantId, t.agent, t.digest, t.createdAt),
    index('denials_agent').on(t.tenantId, t.agent, t.createdAt),
  ],
);

/** Runs by the least favourable circumstances that any of their calls had, as indices into the core's lists. */
export const runs = pgTable(
  'runs',
  {
    tenantId: text('tenant_id').notNull(),
    runId: text('run_id').notNull(),
    agent: text('agent').notNull(),
    /** Index into `SOURCE_TRUSTS`; the greatest. */
    sourceTrustRank: integer('source_trust_rank').notNull(),
    containsSensitiveData: boolean('contains_sensitive_data').notNull(),
    unattended: boolean('unattended').notNull(),
    /** Index into `TIERS`; the least. */
    tierRank: integer('tier_rank').notNull(),
    /** Whether any of its calls named a parent: then what it inherited holds for all that follow. */
    hasParent: boolean('has_parent').notNull(),
    seenAt: instant('seen_at').notNull().default(sql`clock_timestamp()`),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.agent] }),
    index('runs_seen').on(t.tenantId, t.seenAt),
  ],
);

export const grants = pgTable(
  'grants',
  {
    tenantId: text('tenant_id').notNull(),
    grantId: uuid('grant_id').notNull(),
    agent: text('agent').notNull(),
    owner: text('owner'),
    editors: text('editors').array().notNull(),
    /** Digest of what the grant is keyed on: tenant, agent, workspace, environment, session or run, action hash. */
    fingerprint: text('fingerprint').notNull(),
    sessionId: text('session_id'),
    runId: text('run_id'),
    workspace: text('workspace'),
    environment: text('environment'),
    actionHash: text('action_hash').notNull(),
    scope: text('scope').$type<Exclude<Scope, 'once'>>().notNull(),
    maxUses: integer('max_uses'),
    uses: integer('uses').notNull().default(0),
    policyRevision: text('policy_revision').notNull(),
    /** Every revision it answered under, oldest first. */
    policyRevisions: text('policy_revisions').array().notNull(),
    toolFactsHash: text('tool_facts_hash').notNull(),
    sourceTrust: text('source_trust').$type<SourceTrust>().notNull(),
    containsSensitiveData: boolean('contains_sensitive_data').notNull(),
    grantedBy: text('granted_by').notNull(),
    approvalId: uuid('approval_id').notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    revokedBy: text('revoked_by'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.grantId] }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
    index('grants_fingerprint').on(t.tenantId, t.fingerprint),
    index('grants_agent').on(t.tenantId, t.agent, t.grantId),
    check('grants_scope', sql`${t.scope} in ('run', 'session', 'window')`),
    check('grants_uses', sql`${t.uses} >= 0 and (${t.maxUses} is null or ${t.uses} <= ${t.maxUses})`),
    check('grants_window', sql`(${t.scope} = 'window') = (${t.maxUses} is not null)`),
    check(
      'grants_life',
      sql`${t.expiresAt} > ${t.createdAt} and ${t.expiresAt} <= ${t.createdAt} + interval '24 hours'`,
    ),
  ],
);
