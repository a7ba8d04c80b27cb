import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { DecisionContext, SourceTrust, Tier } from '../core/action.ts';
import type { ApprovalEdit, ApprovalOutcome, ApprovalStatus, VoidReason } from '../core/approval.ts';
import type { Role } from '../core/caller.ts';
import type { Denial, Scope, SelfApproval, VoteScope } from '../core/policy.ts';
import type { Review, ReviewFacts } from '../core/review.ts';
import type { VoteSignature } from '../core/vote_signature.ts';
import { createdAt, instant } from './columns.ts';

// TENANT WALL: the tables of the schema files are of the two kinds that table_kinds.ts names. Every key and index of
// a tenant table leads with `tenant_id`.

export const tenants = pgTable('tenants', {
  tenantId: text('tenant_id').primaryKey(),
  /** The revision that decides for this tenant; a condition of every writing statement (NO SILENT DRIFT). */
  activeRevision: text('active_revision').notNull(),
  activatedAt: instant('activated_at').notNull().default(sql`clock_timestamp()`),
  /** The principal who activated it; null for the policy folder. */
  activatedBy: text('activated_by'),
  tier: text('tier').$type<Tier>().notNull().default('auto'),
  /** Keys the fingerprints of masked values, so that nobody can try values out; made by the database, shown to nobody. */
  maskKey: text('mask_key')
    .notNull()
    .default(sql`replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`),
  createdAt: createdAt(),
});

export const principals = pgTable(
  'principals',
  {
    tenantId: text('tenant_id').notNull(),
    principal: text('principal').notNull(),
    groups: text('groups').array().notNull().default(sql`'{}'`),
    owner: text('owner'),
    riskTier: text('risk_tier'),
    slackUser: text('slack_user'),
    oidcSubject: text('oidc_subject'),
    /** Its keys carry both as well, since those are the rows that writing statements judge. */
    disabledAt: instant('disabled_at'),
    frozenAt: instant('frozen_at'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.principal] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.tenantId] }),
    uniqueIndex('principals_slack_user').on(t.tenantId, t.slackUser),
    uniqueIndex('principals_oidc_subject').on(t.tenantId, t.oidcSubject),
  ],
);

/**
 * Credentials, found by the hash of the whole bearer token before the tenant is known; hence global. The row is
 * what writing statements lock to judge standing: revoking and freezing write it.
 */
export const keys = pgTable(
  'keys',
  {
    keyId: uuid('key_id').primaryKey(),
    tokenHash: text('token_hash').notNull(),
    tenantId: text('tenant_id').notNull(),
    principal: text('principal').notNull(),
    roles: text('roles').array().$type<Role[]>().notNull(),
    origin: text('origin')
      .$type<'api' | 'command' | 'first_start' | 'bootstrap' | 'oidc' | 'slack'>()
      .notNull(),
    createdBy: text('created_by'),
    sourceTrustCeiling: text('source_trust_ceiling').$type<SourceTrust>().notNull(),
    environments: text('environments').array(),
    workspaces: text('workspaces').array(),
    unattended: boolean('unattended').notNull(),
    workspaceRoot: text('workspace_root'),
    skill: boolean('skill').notNull(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at'),
    frozenAt: instant('frozen_at'),
    disabledAt: instant('disabled_at'),
    revokedAt: instant('revoked_at'),
    revokeReason: text('revoke_reason'),
  },
  (t) => [
    uniqueIndex('keys_token_hash').on(t.tokenHash),
    index('keys_tenant_principal').on(t.tenantId, t.principal),
    foreignKey({
      columns: [t.tenantId, t.principal],
      foreignColumns: [principals.tenantId, principals.principal],
    }),
    check('keys_roles', sql`cardinality(${t.roles}) > 0`),
    check('keys_revoke_reason', sql`${t.revokeReason} is null or ${t.revokedAt} is not null`),
  ],
);

export const decisions = pgTable(
  'decisions',
  {
    tenantId: text('tenant_id').notNull(),
    decisionId: uuid('decision_id').notNull(),
    agent: text('agent').notNull(),
    keyId: uuid('key_id').notNull(),
    decision: text('decision').$type<'allow' | 'deny' | 'require_approval'>().notNull(),
    reason: text('reason').notNull(),
    determiningPolicies: text('determining_policies').array().notNull(),
    policyRevision: text('policy_revision').notNull(),
    canonicalAction: text('canonical_action').notNull(),
    actionHash: text('action_hash').notNull(),
    resolvedTool: text('resolved_tool').notNull(),
    resolvedAction: text('resolved_action').notNull(),
    context: jsonb('context').$type<DecisionContext>().notNull(),
    denial: jsonb('denial').$type<Denial>(),
    /** The grant that answered an ask. */
    grantId: uuid('grant_id'),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.decisionId] }),
    check('decisions_decision', sql`${t.decision} in ('allow', 'deny', 'require_approval')`),
    check('decisions_denial', sql`${t.denial} is null or ${t.decision} = 'deny'`),
    check('decisions_grant', sql`${t.grantId} is null or ${t.decision} = 'allow'`),
  ],
);

export const approvals = pgTable(
  'approvals',
  {
    tenantId: text('tenant_id').notNull(),
    approvalId: uuid('approval_id').notNull(),
    decisionId: uuid('decision_id').notNull(),
    version: integer('version').notNull().default(1),
    /** Votes cast on earlier versions than this do not count: an edit moves it, a dropped vote does not. */
    votesFromVersion: integer('votes_from_version').notNull().default(1),
    status: text('status').$type<Exclude<ApprovalStatus, 'expired'>>().notNull().default('pending'),
    agent: text('agent').notNull(),
    owner: text('owner'),
    /** Every edit, oldest first; who edited is barred from approving, in any version (NO SELF-APPROVAL). */
    edits: jsonb('edits').$type<ApprovalEdit[]>().notNull().default([]),
    context: jsonb('context').$type<DecisionContext>().notNull(),
    originalAction: text('original_action').notNull(),
    originalActionHash: text('original_action_hash').notNull(),
    canonicalAction: text('canonical_action').notNull(),
    actionHash: text('action_hash').notNull(),
    resolvedTool: text('resolved_tool').notNull(),
    resolvedAction: text('resolved_action').notNull(),
    toolFactsHash: text('tool_facts_hash').notNull(),
    secretParameters: text('secret_parameters').array().notNull().default(sql`'{}'`),
    /** What the registry said beside them, as far as the review needs it. */
    reviewFacts: jsonb('review_facts').$type<ReviewFacts>(),
    /** What approvers are shown of the present version; null in rows older than reviews. */
    review: jsonb('review').$type<Review>(),
    reason: text('reason').notNull(),
    determiningPolicies: text('determining_policies').array().notNull(),
    policyRevision: text('policy_revision').notNull(),
    /** Every revision this approval was decided under, oldest first; more than one after a drift. */
    policyRevisions: text('policy_revisions').array().notNull(),
    requiredVotes: integer('required_votes').notNull(),
    requiredGroups: text('required_groups').array().notNull(),
    requiredSignature: text('required_signature').$type<'none' | 'webauthn'>().notNull(),
    selfApproval: text('self_approval').array().$type<SelfApproval[]>().notNull(),
    maxScope: text('max_scope').$type<Scope>().notNull(),
    decidedBy: text('decided_by'),
    decisionReason: text('decision_reason'),
    voidReason: text('void_reason').$type<VoidReason>(),
    createdAt: createdAt(),
    expiresAt: instant('expires_at').notNull(),
    decidedAt: instant('decided_at'),
    voidedAt: instant('voided_at'),
    consumedAt: instant('consumed_at'),
    consumerTokenHash: text('consumer_token_hash'),
    outcome: jsonb('outcome').$type<ApprovalOutcome>(),
    /** The connection that waits for the answer, for an ask that ends with it; it renews the lease while it is there. */
    askerConnection: uuid('asker_connection'),
    askerLeaseUntil: instant('asker_lease_until'),
    /** When it was told that little of its life is left, and that its time has passed. */
    expiringToldAt: instant('expiring_told_at'),
    expiredToldAt: instant('expired_told_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.approvalId] }),
    foreignKey({
      columns: [t.tenantId, t.decisionId],
      foreignColumns: [decisions.tenantId, decisions.decisionId],
    }),
    index('approvals_status').on(t.tenantId, t.status, t.approvalId),
    index('approvals_agent').on(t.tenantId, t.agent, t.createdAt),
    index('approvals_consumed')
      .on(t.tenantId, t.agent, t.actionHash, t.consumedAt)
      .where(sql`status = 'consumed'`),
    // Those whose time has passed stay pending in the row: what still counts is a range of its end.
    index('approvals_waited_for')
      .on(t.tenantId, t.expiresAt)
      .where(sql`status = 'pending' and asker_connection is not null`),
    index('approvals_untold')
      .on(t.tenantId, t.expiresAt)
      .where(sql`status in ('pending', 'approved') and expired_told_at is null`),
    check(
      'approvals_status_known',
      sql`${t.status} in ('pending', 'approved', 'rejected', 'cancelled', 'voided', 'consumed')`,
    ),
    check('approvals_version', sql`${t.version} >= ${t.votesFromVersion} and ${t.votesFromVersion} >= 1`),
    check('approvals_votes', sql`${t.requiredVotes} between 1 and 10`),
    check(
      'approvals_decided',
      sql`case ${t.status} when 'pending' then ${t.decidedAt} is null and ${t.decidedBy} is null
          when 'voided' then (${t.decidedAt} is null) = (${t.decidedBy} is null)
          else ${t.decidedAt} is not null and ${t.decidedBy} is not null end`,
    ),
    check('approvals_expires', sql`${t.expiresAt} > ${t.createdAt}`),
    check(
      'approvals_voided',
      sql`(${t.status} = 'voided') = (${t.voidedAt} is not null) and (${t.voidedAt} is null) = (${t.voidReason} is null)`,
    ),
    check('approvals_consumed_at', sql`(${t.status} = 'consumed') = (${t.consumedAt} is not null)`),
    check('approvals_consumed_in_time', sql`${t.consumedAt} is null or ${t.consumedAt} <= ${t.expiresAt}`),
    check('approvals_token', sql`${t.consumerTokenHash} is null or ${t.status} = 'consumed'`),
    check('approvals_outcome', sql`${t.outcome} is null or ${t.status} = 'consumed'`),
    check('approvals_asker', sql`(${t.askerConnection} is null) = (${t.askerLeaseUntil} is null)`),
  ],
);

export const votes = pgTable(
  'votes',
  {
    tenantId: text('tenant_id').notNull(),
    approvalId: uuid('approval_id').notNull(),
    version: integer('version').notNull(),
    approver: text('approver').notNull(),
    keyId: uuid('key_id').notNull(),
    /** The approver's groups when voting: what the vote can fill does not change afterwards. */
    groups: text('groups').array().notNull(),
    decision: text('decision').$type<'approve' | 'reject'>().notNull(),
    scope: text('scope').$type<VoteScope>().notNull(),
    /** The view that the approver was shown, if they said so; it was the current one. */
    viewHash: text('view_hash'),
    /** How long and how often a `window` holds. */
    windowSeconds: integer('window_seconds'),
    maxUses: integer('max_uses'),
    reason: text('reason'),
    /** When the approver was first shown the approval, as far as the service knows. */
    shownAt: instant('shown_at'),
    /** The assertion that signs the vote's statement, with all that it takes to verify it. */
    signature: jsonb('signature').$type<VoteSignature>(),
    at: instant('at').notNull().default(sql`clock_timestamp()`),
    /** When the vote's key was revoked, or another vote of the approver took its place; it no longer counts. */
    droppedAt: instant('dropped_at'),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.approvalId, t.version, t.approver] }),
    foreignKey({
      columns: [t.tenantId, t.approvalId],
      foreignColumns: [approvals.tenantId, approvals.approvalId],
    }),
    index('votes_key').on(t.tenantId, t.keyId),
    check('votes_decision', sql`${t.decision} in ('approve', 'reject')`),
    check(
      'votes_window',
      sql`(${t.scope} = 'window') = (${t.windowSeconds} is not null and ${t.maxUses} is not null)`,
    ),
  ],
);

export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text('tenant_id').notNull(),
    principal: text('principal').notNull(),
    route: text('route').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    /** Digest of what the first answer rested on beside the body: revision, context as used, the agent's standing. */
    standing: text('standing').notNull(),
    leaseId: uuid('lease_id').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    /** The answer's JSON text once there is one. */
    answer: text('answer'),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.principal, t.route, t.key] }),
    index('idempotency_keys_expiry').on(t.tenantId, t.expiresAt),
  ],
);

/** Failure counters, in the shape rate-limiter-flexible asks for. */
export const rateLimits = pgTable('rate_limits', {
  key: text('key').primaryKey(),
  points: integer('points').notNull(),
  expire: instant('expire'),
});
