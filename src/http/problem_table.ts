import type { FaultCode } from '../core/fault.ts';

interface ProblemKind {
  status: number;
  title: string;
  /**
   * The only `detail` this code ever has. Set where the cause must not show: the reasons for a 404 are the same to
   * the byte, and nothing private is in a 5xx.
   */
  constantDetail?: string;
  /** Whether the answer has `Retry-After`. */
  retryable?: true;
}

/** Status and title of every code (wire contract, "Errors"). `action_hash_mismatch` on authorize: `statusOf`. */
export const PROBLEM_TABLE: Readonly<Record<FaultCode, ProblemKind>> = {
  bad_request: { status: 400, title: 'malformed request' },
  header_too_large: { status: 431, title: 'request header too large' },
  invalid_json: { status: 400, title: 'body is not strict json' },
  unauthenticated: { status: 401, title: 'credential required' },
  agent_frozen: { status: 403, title: 'agent is frozen' },
  forbidden: { status: 403, title: 'not allowed' },
  self_approval_forbidden: { status: 403, title: 'own action' },
  approver_not_eligible: { status: 403, title: 'approver is not eligible' },
  scope_not_allowed: { status: 403, title: 'scope is not allowed' },
  signature_required: { status: 403, title: 'signature required' },
  signature_invalid: { status: 403, title: 'signature is not valid' },
  not_found: {
    status: 404,
    title: 'not found',
    constantDetail: 'nothing that this credential can see is here. Check the path and the id',
  },
  method_not_allowed: { status: 405, title: 'method not allowed' },
  action_hash_mismatch: { status: 409, title: 'action hash differs' },
  view_hash_mismatch: { status: 409, title: 'view hash differs' },
  binding_mismatch: { status: 409, title: 'binding differs' },
  approval_not_approved: { status: 409, title: 'approval is not approved' },
  approval_already_decided: { status: 409, title: 'approval is already decided' },
  approval_already_consumed: { status: 409, title: 'approval is already consumed' },
  approval_voided: { status: 409, title: 'approval is void' },
  approval_not_consumed: { status: 409, title: 'approval is not consumed' },
  outcome_already_reported: { status: 409, title: 'outcome is already reported' },
  edit_denied_by_policy: { status: 409, title: 'edit is denied by policy' },
  base_hash_mismatch: { status: 409, title: 'base hash differs' },
  policy_changed: { status: 409, title: 'policy has changed' },
  policy_invalid: { status: 422, title: 'policy set is not valid' },
  tool_invalid: { status: 422, title: 'tool is not valid' },
  base_tool: { status: 409, title: 'tool is of the base set' },
  approval_expired: { status: 410, title: 'approval has expired' },
  stale_version: { status: 412, title: 'version is stale' },
  precondition_required: { status: 428, title: 'precondition required' },
  body_too_large: { status: 413, title: 'body too large' },
  unsupported_media_type: { status: 415, title: 'unsupported media type' },
  invalid_request: { status: 422, title: 'invalid request' },
  idempotency_key_reused: { status: 422, title: 'idempotency key is reused' },
  idempotency_in_flight: { status: 409, title: 'idempotency key is in flight' },
  last_operator_key: { status: 409, title: 'last operator key' },
  tenant_exists: { status: 409, title: 'tenant exists' },
  throttled: { status: 429, title: 'too many attempts', retryable: true },
  too_many_pending: { status: 429, title: 'too many pending approvals', retryable: true },
  unavailable: {
    status: 503,
    title: 'service unavailable',
    constantDetail: 'the service cannot answer this now. Try again after the seconds in `retry-after`',
    retryable: true,
  },
  internal_error: {
    status: 500,
    title: 'internal error',
    constantDetail: 'the service failed on this request. Its log has the cause under this `request_id`',
  },
};
