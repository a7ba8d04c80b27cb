import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { approve } from '../../operations/approve.ts';
import { cancel } from '../../operations/cancel.ts';
import { edit } from '../../operations/edit.ts';
import { reject } from '../../operations/reject.ts';
import { parseIfMatch } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { approvalOutput } from '../schemas/approval.ts';
import { prose, sha256 } from '../schemas/common.ts';
import { toolCallInput } from '../schemas/tool_call.ts';
import { approvalAnswer, ETAG_HEADER } from './approval_answer.ts';

const REASON_MAX = 2000;

const reason = prose(REASON_MAX).optional();
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
    action_hash: sha256.optional(),
    reason,
    scope: z.enum(['once', 'run', 'session', 'window', 'allowlist']).optional(),
    window_seconds: z.int().min(1).max(86_400).optional(),
    max_uses: z.int().min(1).max(100).optional(),
  })
  .meta({ id: 'ApproveRequest' });

/** Only `once` until grants exist: a wider yes would be kept by nobody. */
function assertScopeOnce(body: z.output<typeof approveBody>): void {
  const issues = (['scope', 'window_seconds', 'max_uses'] as const)
    .filter((member) => body[member] !== undefined && body[member] !== 'once')
    .map((member) => ({ pointer: `/${member}`, reason: 'an approval holds once' }));
  if (issues.length === 0) return;
  throw new Fault('invalid_request', 'an approval holds once. Leave `scope` out or send `once`', { issues });
}

export const approveRoute = defineRoute({
  ...common,
  operationId: 'approveApproval',
  summary: 'Vote for exactly these bytes',
  description: 'Once the approval was edited, `action_hash` or `If-Match` is needed.',
  path: '/v1/approvals/:id/approve',
  roles: ['approver'],
  body: approveBody,
  bodyOptional: true,
  problems: [
    ...STATE_PROBLEMS,
    'stale_version',
    'precondition_required',
    'action_hash_mismatch',
    'policy_changed',
    'self_approval_forbidden',
    'approver_not_eligible',
    'signature_required',
  ],
  handle: async ({ deps, caller, id, body, header }) => {
    assertScopeOnce(body);
    return approvalAnswer(
      await approve(deps, caller, id, {
        actionHash: body.action_hash,
        reason: body.reason,
        ifMatch: parseIfMatch(header('if-match')),
      }),
    );
  },
});

export const rejectRoute = defineRoute({
  ...common,
  operationId: 'rejectApproval',
  summary: 'Reject',
  path: '/v1/approvals/:id/reject',
  roles: ['approver'],
  body: reasonBody,
  bodyOptional: true,
  problems: [...STATE_PROBLEMS, 'stale_version', 'approver_not_eligible', 'self_approval_forbidden'],
  handle: async ({ deps, caller, id, body, header }) =>
    approvalAnswer(
      await reject(deps, caller, id, { reason: body.reason, ifMatch: parseIfMatch(header('if-match')) }),
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
        reason: body.reason,
        ifMatch: parseIfMatch(header('if-match')),
      }),
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
      await cancel(deps, caller, id, { reason: body.reason, ifMatch: parseIfMatch(header('if-match')) }),
    ),
});
