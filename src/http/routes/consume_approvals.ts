import * as z from 'zod';
import { formatId } from '../../core/ids.ts';
import { parseToolCall } from '../../core/parse_tool_call.ts';
import { consume } from '../../operations/consume.ts';
import { reportOutcome } from '../../operations/report_outcome.ts';
import { defineRoute } from '../route.ts';
import { approvalOutput, consumeOutput } from '../schemas/approval.ts';
import { plainText, prose, sha256 } from '../schemas/common.ts';
import { approvalAnswer, ETAG_HEADER } from './approval_answer.ts';

const BINDING_TEXT_MAX = 256;
const REFERENCE_MAX = 256;
const OUTCOME_DETAIL_MAX = 4096;

const bound = plainText(BINDING_TEXT_MAX).nullish();

const consumeBody = z
  .strictObject({
    action_hash: sha256.optional(),
    consumer_token: z
      .string()
      .regex(/^[!-~]{16,128}$/, 'must be 16 to 128 printable characters without spaces')
      .optional(),
    binding: z.strictObject({ workspace: bound, environment: bound, session_id: bound }).optional(),
  })
  .meta({ id: 'ConsumeRequest' });

export const consumeRoute = defineRoute({
  operationId: 'consumeApproval',
  summary: 'Spend an approved approval, exactly once',
  description:
    'Send a fresh random `consumer_token` with each call: the same token gets the same answer again when it was lost.',
  method: 'post',
  path: '/v1/approvals/:id/consume',
  roles: ['agent'],
  attempts: 'in statement',
  body: consumeBody,
  bodyOptional: true,
  success: { status: 200, description: 'spent; run exactly this', schema: consumeOutput },
  problems: [
    'approval_expired',
    'approval_not_approved',
    'approval_already_consumed',
    'approval_voided',
    'precondition_required',
    'action_hash_mismatch',
    'binding_mismatch',
    'policy_changed',
  ],
  handle: async ({ deps, caller, id, body }) => {
    const consumed = await consume(deps, caller, id, {
      actionHash: body.action_hash,
      consumerToken: body.consumer_token,
      binding: body.binding ?? {},
    });
    return {
      body: {
        approval_id: formatId('approval', consumed.approvalId),
        status: 'consumed',
        action_hash: consumed.actionHash,
        tool_call: parseToolCall(consumed.canonicalAction),
        consumed_at: consumed.consumedAt.toISOString(),
        replayed: consumed.replayed,
      },
    };
  },
});

const outcomeBody = z
  .strictObject({
    outcome: z.enum(['executed', 'failed', 'unknown']),
    effect: z.enum(['none', 'occurred', 'unknown']).optional(),
    enforcement_id: plainText(REFERENCE_MAX).optional(),
    result_hash: sha256.optional(),
    detail: prose(OUTCOME_DETAIL_MAX).optional(),
  })
  .meta({ id: 'OutcomeRequest' });

export const outcomeRoute = defineRoute({
  operationId: 'reportOutcome',
  summary: 'Report what became of a consumed approval, once',
  method: 'post',
  path: '/v1/approvals/:id/outcome',
  roles: ['agent'],
  attempts: 'read first',
  body: outcomeBody,
  success: { status: 200, description: 'the approval', schema: approvalOutput, headers: ETAG_HEADER },
  problems: ['approval_not_consumed', 'outcome_already_reported'],
  handle: async ({ deps, caller, id, body }) =>
    approvalAnswer(
      await reportOutcome(deps, caller, id, {
        outcome: body.outcome,
        effect: body.effect ?? null,
        enforcement_id: body.enforcement_id ?? null,
        result_hash: body.result_hash ?? null,
        detail: body.detail ?? null,
      }),
      caller,
    ),
});
