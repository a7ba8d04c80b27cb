import * as z from 'zod';
import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import { formatId } from '../../core/ids.ts';
import { VOTE_SCOPES } from '../../core/policy.ts';
import { showActions } from '../../core/secret_values.ts';
import { offeredVoteScopes } from '../../operations/exec_approvals/learn.ts';
import { maskerOf } from '../../operations/masking.ts';
import { reviewOf } from '../../operations/review.ts';
import { idOf, instant, sha256 } from './common.ts';
import { reviewOutput } from './review.ts';
import { contextOutput, toolCallOutput } from './tool_call.ts';
import { voteSignatureOutput } from './webauthn.ts';

export const approvalStatus = z.enum([
  'pending',
  'approved',
  'rejected',
  'expired',
  'consumed',
  'cancelled',
  'voided',
]);

export const resolved = z
  .strictObject({ tool: z.string(), action: z.string() })
  .meta({ description: 'what tool and action resolved to for look-ups and policy' });

export const policyIds = z.array(z.string());

const scope = z.enum(VOTE_SCOPES);

const outcome = z
  .strictObject({
    outcome: z.enum(['executed', 'failed', 'unknown']),
    effect: z.enum(['none', 'occurred', 'unknown']).nullable(),
    enforcement_id: z.string().nullable(),
    result_hash: z.string().nullable(),
    detail: z.string().nullable(),
    reported_at: instant,
  })
  .meta({ id: 'Outcome' });

const vote = z
  .strictObject({
    approver: z.string(),
    decision: z.enum(['approve', 'reject']),
    scope,
    reason: z.string().nullable(),
    at: instant,
    signature: voteSignatureOutput.optional(),
  })
  .meta({ id: 'Vote' });

const edit = z
  .strictObject({ editor: z.string(), reason: z.string().nullable(), action_hash: sha256, at: instant })
  .meta({ id: 'Edit' });

/** An approval as answered. */
export const approvalOutput = z
  .strictObject({
    approval_id: idOf('approval'),
    version: z.int().min(1),
    status: approvalStatus,
    agent: z.string(),
    owner: z.string().nullable(),
    context: contextOutput,
    original_tool_call: toolCallOutput,
    original_action_hash: sha256,
    tool_call: toolCallOutput,
    action_hash: sha256,
    canonical_action: z.string().nullable().meta({
      description:
        'the exact canonical JSON text that is hashed; null where a value is masked for this reader',
    }),
    review: reviewOutput,
    masked: z.array(z.string()).meta({ description: 'JSON pointers of values masked for this reader' }),
    resolved,
    edited: z.boolean(),
    edits: z.array(edit),
    reason: z.string(),
    determining_policies: policyIds,
    policy_revision: sha256,
    requirements: z.strictObject({
      votes: z.int().min(1).max(10),
      groups: z.array(z.string()),
      signature: z.enum(['none', 'webauthn']),
    }),
    scopes: z.array(scope).meta({ description: 'what an approver may pick' }),
    votes: z.array(vote),
    recent: z
      .array(
        z.strictObject({
          approval_id: idOf('approval'),
          consumed_at: instant,
          outcome: outcome.nullable(),
        }),
      )
      .meta({ description: 'the same action consumed by this agent in the last 24 hours' }),
    decided_by: z.string().nullable(),
    decision_reason: z.string().nullable(),
    void_reason: z.enum(['policy', 'key_revoked', 'agent_frozen']).nullable(),
    created_at: instant,
    expires_at: instant,
    decided_at: instant.nullable(),
    consumed_at: instant.nullable(),
    outcome: outcome.nullable(),
  })
  .meta({ id: 'Approval' });

/** An approval in wire form, as its reader may see it. */
export function toWireApproval(approval: Approval, reader: Caller): z.input<typeof approvalOutput> {
  const actions = showActions(approval, reader.principal, maskerOf(reader));
  const iso = (date: Date | null) => date?.toISOString() ?? null;
  return {
    approval_id: formatId('approval', approval.approvalId),
    version: approval.version,
    status: approval.status,
    agent: approval.agent,
    owner: approval.owner,
    context: approval.context,
    original_tool_call: actions.original,
    original_action_hash: approval.originalActionHash,
    tool_call: actions.current,
    action_hash: approval.actionHash,
    canonical_action: actions.canonicalAction,
    review: reviewOf(approval, maskerOf(reader)),
    masked: actions.masked,
    resolved: approval.resolved,
    edited: approval.edits.length > 0,
    edits: approval.edits,
    reason: approval.reason,
    determining_policies: approval.determiningPolicies,
    policy_revision: approval.policyRevision,
    requirements: approval.requirements,
    scopes: offeredVoteScopes(approval),
    votes: approval.votes.map(({ approver, decision, scope, reason, at, signature }) => ({
      approver,
      decision,
      scope,
      reason,
      at: at.toISOString(),
      ...(signature !== null && { signature }),
    })),
    recent: approval.recent.map((item) => ({
      approval_id: formatId('approval', item.approvalId),
      consumed_at: item.consumedAt.toISOString(),
      outcome: item.outcome,
    })),
    decided_by: approval.decidedBy,
    decision_reason: approval.decisionReason,
    void_reason: approval.voidReason,
    created_at: approval.createdAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_at: iso(approval.decidedAt),
    consumed_at: iso(approval.consumedAt),
    outcome: approval.outcome,
  };
}

export const consumeOutput = z
  .strictObject({
    approval_id: idOf('approval'),
    status: z.literal('consumed'),
    action_hash: sha256,
    tool_call: toolCallOutput,
    consumed_at: instant,
    replayed: z.boolean(),
  })
  .meta({ id: 'Consumed' });
