import type { JsonValue } from '../../../src/core/json.ts';
import type { AegisErrorCode } from './error_code.ts';
import { AegisError, IntegrityError } from './errors.ts';
import { isObject } from './read_answer.ts';
import type { Problem } from './wire.ts';

/** Codes of the service that mean one thing here whatever the approval's status. */
const CODES: Readonly<Record<string, AegisErrorCode>> = {
  unauthenticated: 'unauthenticated',
  agent_frozen: 'forbidden',
  forbidden: 'forbidden',
  self_approval_forbidden: 'forbidden',
  approver_not_eligible: 'forbidden',
  scope_not_allowed: 'forbidden',
  action_hash_mismatch: 'integrity',
  view_hash_mismatch: 'integrity',
  binding_mismatch: 'integrity',
  approval_already_consumed: 'already_consumed',
  approval_voided: 'voided',
  policy_changed: 'voided',
  approval_expired: 'expired',
  edit_denied_by_policy: 'denied',
  throttled: 'throttled',
  too_many_pending: 'throttled',
  idempotency_in_flight: 'unavailable',
  unavailable: 'unavailable',
  internal_error: 'unavailable',
};

/** Codes that say "not in this state": the state is in `approval_status`. */
const STATE_CODES: ReadonlySet<string> = new Set(['approval_not_approved', 'approval_already_decided']);
const STATES: Readonly<Record<string, AegisErrorCode>> = {
  pending: 'pending',
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
  voided: 'voided',
  consumed: 'already_consumed',
};

/** The error for an answer that is not a 2xx. `body` is undefined when it could not be read. */
export function problemError(
  what: string,
  status: number,
  body: JsonValue | undefined,
  retryAfterSeconds: number | undefined,
): AegisError {
  const problem = readProblem(body);
  const code = errorCode(status, problem);
  const detail = problem === undefined ? `the service answered ${status}` : problem.detail;
  const message = `${what}: ${problem === undefined ? '' : `${problem.code}: `}${detail}`;
  const details = { problem, retryAfterSeconds, reason: problem?.detail };
  return code === 'integrity' ? new IntegrityError(message, details) : new AegisError(code, message, details);
}

function readProblem(body: JsonValue | undefined): Problem | undefined {
  return isObject(body) && typeof body.code === 'string' && typeof body.detail === 'string'
    ? (body as unknown as Problem)
    : undefined;
}

function errorCode(status: number, problem: Problem | undefined): AegisErrorCode {
  if (problem !== undefined && STATE_CODES.has(problem.code)) {
    return lookUp(STATES, String(problem.approval_status)) ?? 'invalid_request';
  }
  return (problem && lookUp(CODES, problem.code)) ?? codeOfStatus(status);
}

/** By own members only: a code such as `constructor` is another's text. */
function lookUp(table: Readonly<Record<string, AegisErrorCode>>, name: string): AegisErrorCode | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function codeOfStatus(status: number): AegisErrorCode {
  switch (status) {
    case 401:
      return 'unauthenticated';
    case 403:
      return 'forbidden';
    case 410:
      return 'expired';
    case 429:
      return 'throttled';
    default:
      // A redirect (0 when the runtime hides it) comes from something that is not the service.
      return status >= 400 && status < 500 ? 'invalid_request' : 'unavailable';
  }
}
