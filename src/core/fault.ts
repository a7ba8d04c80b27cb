import type { JsonValue } from './json.ts';

/** Stable codes of everything that ends in a problem; the wire contract's table of errors. */
export type FaultCode =
  | 'bad_request'
  | 'header_too_large'
  | 'invalid_json'
  | 'unauthenticated'
  | 'agent_frozen'
  | 'forbidden'
  | 'self_approval_forbidden'
  | 'approver_not_eligible'
  | 'scope_not_allowed'
  | 'signature_required'
  | 'signature_invalid'
  | 'not_found'
  | 'method_not_allowed'
  | 'action_hash_mismatch'
  | 'binding_mismatch'
  | 'approval_not_approved'
  | 'approval_already_decided'
  | 'approval_already_consumed'
  | 'approval_voided'
  | 'approval_not_consumed'
  | 'outcome_already_reported'
  | 'edit_denied_by_policy'
  | 'view_hash_mismatch'
  | 'base_hash_mismatch'
  | 'policy_changed'
  | 'policy_invalid'
  | 'tool_invalid'
  | 'base_tool'
  | 'approval_expired'
  | 'stale_version'
  | 'precondition_required'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'invalid_request'
  | 'idempotency_key_reused'
  | 'idempotency_in_flight'
  | 'last_operator_key'
  | 'tenant_exists'
  | 'throttled'
  | 'too_many_pending'
  | 'unavailable'
  | 'internal_error';

/** One place in a body that is wrong. `pointer` is a JSON Pointer (RFC 6901), `''` for the whole body. */
export interface FaultIssue {
  pointer: string;
  reason: string;
}

export interface FaultOptions {
  /** Wrong places in the input. */
  issues?: FaultIssue[];
  /** Further public members of the problem, by wire name, for instance `approval_status`. */
  members?: Record<string, JsonValue>;
  /** Seconds after which trying again is worth it. */
  retryAfterSeconds?: number;
  /** What really happened; logged, never shown. */
  cause?: unknown;
}

/**
 * The one error class of the service. `detail` is public and says what to do next; it never repeats an id, a
 * token or another tenant's data. What is private goes into `cause`.
 */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly detail: string;
  readonly issues: FaultIssue[] | undefined;
  readonly members: Record<string, JsonValue>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FaultCode, detail: string, options: FaultOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Fault';
    this.code = code;
    this.detail = detail;
    this.issues = options.issues;
    this.members = options.members ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
