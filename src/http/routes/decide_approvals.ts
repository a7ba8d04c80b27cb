import * as z from 'zod';
import { REASON_LENGTH_MAX } from '../../core/vote_limits.ts';
import { assertionResponse } from '../../core/webauthn_responses.ts';
import { approve } from '../../operations/approve.ts';
import { cancel } from '../../operations/cancel.ts';
import { edit } from '../../operations/edit.ts';
import { reject } from '../../operations/reject.ts';
import { parseIfMatch } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { approvalOutput } from '../schemas/approval.ts';
import { prose, sha256 } from '../schemas/common.ts';
import { toolCallInput } from '../schemas/tool_call.ts';
import { readWidening, viewHash, wideningMembers } from '../schemas/vote.ts';
import { approvalAnswer, ETAG_HEADER } from './approval_answer.ts';

const reason = prose(REASON_LENGTH_MAX).nullish();
/** What a passkey answered to `POST /v1/approvals/:id/signature-options`. */
const signature = assertionResponse.nullish();

const reasonBody = z.strictObject({ reason }).meta({ id: 'ReasonRequest' });
const success = {
  status: 200,
  description: 'the approval',
  schema: approvalOutput,
  headers: ETAG_HEADER,
} as const;
/** What the state table says of a call that comes too late. */
const STATE_PROBLEMS = [
  'approval_expired',
  'approval_already_decided',
  'approval_already_consumed',
  'approval_voided',
] as const;

const common = { method: 'post', attempts: 'read first', headers: ['if-match'], success } as const;

const approveBody = z
  .strictObject({
    action_hash: sha256.nullish(),
    view_hash: viewHash,
    reason,
    ...wideningMembers,
    signature,
  })
  .meta({ id: 'ApproveRequest' });

export const approveRoute = defineRoute({
  ...common,
  operationId: 'approveApproval',
  summary: 'Vote for exactly these bytes',
  description:
    'Once the approval was edited, `action_hash`, `view_hash` or `If-Match` is needed. A `scope` but `once` makes a grant as well: later calls of the same action are then allowed by it. `allowlist`, for commands that exec approvals ask for on a miss, puts the executables on the agent’s allowlist instead. Where `requirements.signature` is `webauthn`, a `signature` is needed; one that is sent must stand in any case.',
  path: '/v1/approvals/:id/approve',
  roles: ['approver'],
  body: approveBody,
  bodyOptional: true,
  problems: [
    ...STATE_PROBLEMS,
    'stale_version',
    'precondition_required',
    'action_hash_mismatch',
    'view_hash_mismatch',
    'policy_changed',
    'self_approval_forbidden',
    'approver_not_eligible',
    'scope_not_allowed',
    'signature_required',
    'signature_invalid',
  ],
  handle: async ({ deps, caller, id, body, header }) => {
    const widening = readWidening(body);
    return approvalAnswer(
      await approve(deps, caller, id, {
        actionHash: body.action_hash ?? undefined,
        viewHash: body.view_hash ?? undefined,
        reason: body.reason ?? undefined,
        ifMatch: parseIfMatch(header('if-match')),
        widening,
        signature: body.signature ?? undefined,
      }),
      caller,
    );
  },
});

export const rejectRoute = defineRoute({
  ...common,
  operationId: 'rejectApproval',
  summary: 'Reject',
  path: '/v1/approvals/:id/reject',
  roles: ['approver'],
  body: z.strictObject({ view_hash: viewHash, reason, signature }).meta({ id: 'RejectRequest' }),
  bodyOptional: true,
  problems: [
    ...STATE_PROBLEMS,
    'stale_version',
    'view_hash_mismatch',
    'policy_changed',
    'approver_not_eligible',
    'self_approval_forbidden',
    'signature_invalid',
  ],
  handle: async ({ deps, caller, id, body, header }) =>
    approvalAnswer(
      await reject(deps, caller, id, {
        reason: body.reason ?? undefined,
        viewHash: body.view_hash ?? undefined,
        ifMatch: parseIfMatch(header('if-match')),
        signature: body.signature ?? undefined,
      }),
      caller,
    ),
});

export const editRoute = defineRoute({
  ...common,
  operationId: 'editApproval',
  summary: 'Replace the parameters; who edits does not approve',
  path: '/v1/approvals/:id/edit',
  roles: ['approver'],
  body: z.strictObject({ tool_call: toolCallInput, reason }).meta({ id: 'EditRequest' }),
  problems: [
    ...STATE_PROBLEMS,
    'stale_version',
    'edit_denied_by_policy',
    'approver_not_eligible',
    'self_approval_forbidden',
  ],
  handle: async ({ deps, caller, id, body, header }) =>
    approvalAnswer(
      await edit(deps, caller, id, {
        toolCall: body.tool_call,
        reason: body.reason ?? undefined,
        ifMatch: parseIfMatch(header('if-match')),
      }),
      caller,
    ),
});

export const cancelRoute = defineRoute({
  ...common,
  operationId: 'cancelApproval',
  summary: 'Take an approval back before it is used',
  path: '/v1/approvals/:id/cancel',
  roles: ['agent', 'operator', 'approver'],
  body: reasonBody,
  bodyOptional: true,
  problems: [...STATE_PROBLEMS, 'stale_version', 'approver_not_eligible', 'self_approval_forbidden'],
  handle: async ({ deps, caller, id, body, header }) =>
    approvalAnswer(
      await cancel(deps, caller, id, {
        reason: body.reason ?? undefined,
        ifMatch: parseIfMatch(header('if-match')),
      }),
      caller,
    ),
});
