import * as z from 'zod';
import { Fault } from '../../core/fault.ts';
import { formatId, parseId } from '../../core/ids.ts';
import { getApproval, waitForApproval } from '../../operations/get_approval.ts';
import { listApprovals } from '../../operations/list_approvals.ts';
import { parsePrefer } from '../request_headers.ts';
import { defineRoute } from '../route.ts';
import { approvalOutput, approvalStatus, toWireApproval } from '../schemas/approval.ts';
import { plainText, principalName } from '../schemas/common.ts';
import { approvalAnswer, ETAG_HEADER } from './approval_answer.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const WAIT_SECONDS_MAX = 55;
const VERSION_MAX = 2 ** 31 - 1;

/** A whole number as query text. */
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${min} to ${max}`)
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });

const listQuery = z.strictObject({
  status: approvalStatus.optional(),
  agent: principalName.optional(),
  tool: plainText(128).optional(),
  outcome: z.literal('missing').optional(),
  limit: wholeNumber(1, LIMIT_MAX).optional(),
  cursor: z.string().min(1).max(128).optional(),
});

/** The approval that a cursor continues after. */
function parseCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const before = parseId('approval', cursor);
  if (before !== undefined) return before;
  throw new Fault('invalid_request', 'send `cursor` as `next_cursor` was answered', {
    issues: [{ pointer: '/cursor', reason: 'is no cursor of this list' }],
  });
}

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
      before: parseCursor(query.cursor),
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
