import * as z from 'zod';
import { canonicalize } from '../../core/canonical_json.ts';
import { sha256Hex } from '../../core/digest.ts';
import { formatId } from '../../core/ids.ts';
import type { JsonValue } from '../../core/json.ts';
import { parseToolCall } from '../../core/parse_tool_call.ts';
import { type AuthorizeAnswer, authorize } from '../../operations/authorize.ts';
import { parseIdempotencyKey } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { approvalStatus, policyIds, resolved } from '../schemas/approval.ts';
import { idOf, instant, sha256 } from '../schemas/common.ts';
import { contextInput, toolCallInput, toolCallOutput } from '../schemas/tool_call.ts';

const body = z
  .strictObject({
    tool_call: toolCallInput,
    action_hash: sha256.optional(),
    context: contextInput.optional(),
    dry_run: z.boolean().optional(),
  })
  .meta({ id: 'AuthorizeRequest' });

const denial = z.strictObject({
  by: z.enum(['person', 'ledger', 'pause', 'unattended', 'unroutable', 'floor', 'parameters']),
  reason: z.string(),
  instruction: z.string().meta({ description: "text for the agent's model" }),
});

const answer = z
  .strictObject({
    decision_id: idOf('decision'),
    decision: z.enum(['allow', 'deny', 'require_approval']),
    reason: z.string(),
    determining_policies: policyIds,
    policy_revision: sha256,
    action_hash: sha256,
    tool_call: toolCallOutput,
    resolved,
    approval: z
      .strictObject({
        approval_id: idOf('approval'),
        status: approvalStatus,
        expires_at: instant,
        action_hash: sha256,
        version: z.int().min(1),
      })
      .nullable(),
    grant_id: idOf('grant').nullable().meta({ description: 'the grant that answered the ask' }),
    denial: denial.nullable(),
    dry_run: z.boolean(),
  })
  .meta({ id: 'Decision' });

function toWire(decided: AuthorizeAnswer): z.input<typeof answer> {
  const { approval } = decided;
  return {
    decision_id: formatId('decision', decided.decisionId),
    decision: decided.decision,
    reason: decided.reason,
    determining_policies: decided.determiningPolicies,
    policy_revision: decided.policyRevision,
    action_hash: decided.actionHash,
    tool_call: parseToolCall(decided.canonicalAction),
    resolved: decided.resolved,
    approval: approval && {
      approval_id: formatId('approval', approval.approvalId),
      status: approval.status,
      expires_at: approval.expiresAt,
      action_hash: approval.actionHash,
      version: approval.version,
    },
    grant_id: decided.grantId === null ? null : formatId('grant', decided.grantId),
    denial: decided.denial,
    dry_run: decided.dryRun,
  };
}

export const authorizeRoute = defineRoute({
  operationId: 'authorize',
  summary: 'Ask whether a tool call may run',
  description:
    'Evaluates policy on the call and freezes its canonical form. `require_approval` comes with an approval of its own.',
  method: 'post',
  path: '/v1/authorize',
  roles: ['agent'],
  body,
  headers: ['idempotency-key'],
  success: {
    status: 200,
    schema: answer,
    description: 'the decision',
    headers: { 'Idempotency-Replayed': 'true when this is the first answer under the idempotency key' },
  },
  problems: [
    'action_hash_mismatch',
    'idempotency_key_reused',
    'idempotency_in_flight',
    'throttled',
    'too_many_pending',
  ],
  handle: async ({ deps, caller, body, rawBody, header }) => {
    const key = parseIdempotencyKey(header('idempotency-key'));
    const { answer: decided, replayed } = await authorize(deps, caller, {
      toolCall: body.tool_call,
      actionHash: body.action_hash,
      context: body.context ?? {},
      dryRun: body.dry_run ?? false,
      idempotency:
        key === undefined ? undefined : { key, fingerprint: sha256Hex(canonicalize(rawBody as JsonValue)) },
    });
    return { body: toWire(decided), headers: replayed ? { 'Idempotency-Replayed': 'true' } : {} };
  },
});
