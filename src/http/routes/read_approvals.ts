import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { formatId } from '../../core/ids.ts';
import { getApproval, waitForApproval } from '../../operations/get_approval.ts';
import { listApprovals } from '../../operations/list_approvals.ts';
import { parsePrefer } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { approvalOutput, approvalStatus, toWireApproval } from '../schemas/approval.ts';
import { plainText, principalName } from '../schemas/common.ts';
import { LIMIT_DEFAULT, pageMembers, parseCursor, wholeNumber } from '../schemas/page.ts';
import { approvalAnswer, ETAG_HEADER } from './approval_answer.ts';

const WAIT_SECONDS_MAX = 55;
const VERSION_MAX = 2 ** 31 - 1;

const listQuery = z.strictObject({
  status: approvalStatus.optional(),
  agent: principalName.optional(),
  tool: plainText(128).optional(),
  outcome: z.literal('missing').optional(),
  ...pageMembers,
});

export const listApprovalsRoute = defineRoute({
  operationId: 'listApprovals',
  summary: 'List approvals, newest first',
  description: 'An agent sees its own.',
  method: 'get',
  path: '/v1/approvals',
  roles: ['approver', 'operator', 'auditor', 'agent'],
  query: listQuery,
  success: {
    status: 200,
    description: 'a page',
    schema: z
      .strictObject({ items: z.array(approvalOutput), next_cursor: z.string().nullable() })
      .meta({ id: 'ApprovalPage' }),
  },
  problems: [],
  handle: async ({ deps, caller, query }) => {
    const page = await listApprovals(deps, caller, {
      status: query.status ?? null,
      agent: query.agent ?? null,
      tool: query.tool ?? null,
      outcomeMissing: query.outcome === 'missing',
      limit: query.limit ?? LIMIT_DEFAULT,
      before: parseCursor('approval', query.cursor),
    });
    return {
      body: {
        items: page.items.map((item) => toWireApproval(item, caller)),
        next_cursor: page.next === null ? null : formatId('approval', page.next),
      },
    };
  },
});

const getQuery = z.strictObject({
  wait: wholeNumber(0, WAIT_SECONDS_MAX).optional(),
  version: wholeNumber(1, VERSION_MAX).optional(),
});

function waitSeconds(queried: number | undefined, prefer: string | undefined): number {
  const seconds = queried ?? parsePrefer(prefer) ?? 0;
  if (seconds <= WAIT_SECONDS_MAX) return seconds;
  throw new Fault('invalid_request', `wait 0 to ${WAIT_SECONDS_MAX} seconds`, {
    issues: [{ pointer: '/wait', reason: `must be 0 to ${WAIT_SECONDS_MAX}` }],
  });
}

export const getApprovalRoute = defineRoute({
  operationId: 'getApproval',
  summary: 'Read an approval, or wait while it is pending',
  description: 'With `wait`, holds while the status is `pending`, at most until the approval expires.',
  method: 'get',
  path: '/v1/approvals/:id',
  roles: ['approver', 'operator', 'auditor', 'agent'],
  attempts: 'read first',
  query: getQuery,
  headers: ['prefer'],
  success: { status: 200, description: 'the approval', schema: approvalOutput, headers: ETAG_HEADER },
  problems: [],
  handle: async ({ deps, caller, id, query, header, signal }) => {
    const seconds = waitSeconds(query.wait, header('prefer'));
    if (seconds === 0) return approvalAnswer(await getApproval(deps, caller, id), caller);
    const wait = { waitSeconds: seconds, knownVersion: query.version, signal: signal() };
    return approvalAnswer(await waitForApproval(deps, caller, id, wait), caller);
  },
});
