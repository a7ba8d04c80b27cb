import type { Fault, FaultCode, FaultIssue } from '../core/fault.ts';
import type { JsonValue } from '../core/json.ts';
import { PROBLEM_TABLE } from './problem_table.ts';
import { toFault } from './to_fault.ts';

export interface ProblemOptions {
  /** The request's id, shown in the body; `newRequestId` where there is no request yet. */
  requestId: string;
  /** The methods served at this path, for a 405's `Allow` (RFC 9110 §10.2.1). */
  allow?: readonly string[];
}

/** Problem details as on the wire (RFC 9457 §3). */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: FaultCode;
  request_id: string;
  errors?: FaultIssue[];
  [member: string]: unknown;
}

export interface Problem {
  status: number;
  /** Names are in lower case. */
  headers: Record<string, string>;
  body: ProblemBody;
}

/**
 * The one builder of error answers: whatever was thrown becomes the problem the wire contract has for it. An
 * error that is no expected one is `internal_error`. A code with a constant detail shows nothing else of the
 * fault: no other detail, no `errors`, no further member.
 */
export function buildProblem(error: unknown, options: ProblemOptions): Problem {
  const fault = toFault(error);
  const status = statusOf(fault);
  return { status, headers: headersOf(fault, status, options), body: bodyOf(fault, status, options) };
}

/** `buildProblem` as a response of the Fetch standard. */
export function problemResponse(error: unknown, options: ProblemOptions): Response {
  const { status, headers, body } = buildProblem(error, options);
  return new Response(JSON.stringify(body), { status, headers });
}

/**
 * The status an error is answered with. Only `action_hash_mismatch` has two: where the caller's hash differs from
 * its own tool call the request is wrong (422, with the hash expected), elsewhere it conflicts with what is stored.
 */
export function statusOf(fault: Fault): number {
  if (fault.code === 'action_hash_mismatch' && 'expected_action_hash' in fault.members) {
    return 422;
  }
  return PROBLEM_TABLE[fault.code].status;
}

function bodyOf(fault: Fault, status: number, options: ProblemOptions): ProblemBody {
  const { title, constantDetail } = PROBLEM_TABLE[fault.code];
  const body: ProblemBody = {
    type: `urn:aegis:problem:${fault.code.replaceAll('_', '-')}`,
    title,
    status,
    detail: constantDetail ?? fault.detail,
    code: fault.code,
    request_id: options.requestId,
  };
  if (constantDetail !== undefined) {
    return body;
  }
  if (fault.issues !== undefined) {
    body.errors = fault.issues;
  }
  return { ...body, ...ownMembers(fault.members, body) };
}

/** The members a fault adds; none replaces a member that every problem has. */
function ownMembers(members: Record<string, JsonValue>, body: ProblemBody): Record<string, JsonValue> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !Object.hasOwn(body, name)));
}

function headersOf(fault: Fault, status: number, options: ProblemOptions): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
  };
  if (status === 401) {
    headers['www-authenticate'] = 'Bearer';
  }
  if (status === 405 && options.allow !== undefined) {
    headers.allow = options.allow.join(', ');
  }
  if (PROBLEM_TABLE[fault.code].retryable || fault.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(fault.retryAfterSeconds ?? 1)));
  }
  return headers;
}
