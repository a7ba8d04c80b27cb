import type { SourceTrust, ToolCall } from '../../../src/core/action.ts';
import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import type { VoteSignature } from '../../../src/core/vote_signature.ts';
import type { Review } from './wire_review.ts';

/** The service's requests and answers, with their wire names. */

export type * from './wire_review.ts';
export type { JsonObject, JsonValue, SourceTrust, ToolCall, VoteSignature };

/** The words known here, and any other that a later service may answer with. */
type Open<Word extends string> = Word | (string & {});

export interface ToolCallInput {
  tool: string;
  action: string;
  resource?: string | null;
  mutates_state: boolean;
  /** A plain object of JSON values; anything else in it is a `TypeError`. */
  parameters: object;
}

/** The circumstances of a call, as it claims them. They can tighten what the key allows, never pass it. */
export interface AuthorizeContext {
  source_trust?: SourceTrust;
  contains_sensitive_data?: boolean;
  workspace?: string | null;
  environment?: string | null;
  session_id?: string | null;
  run_id?: string | null;
  parent_run_id?: string | null;
  unattended?: boolean;
  tier?: 'ask' | 'auto' | 'full' | null;
  justification?: string | null;
}

export interface AuthorizeInput {
  tool_call: ToolCallInput;
  context?: AuthorizeContext | undefined;
  dry_run?: boolean | undefined;
}

export interface Denial {
  by: Open<'person' | 'ledger' | 'pause' | 'unattended' | 'unroutable' | 'floor' | 'parameters'>;
  reason: string;
  instruction: string;
}

export interface AuthorizeAnswer {
  decision_id: string;
  /** Treat a word not named here as a deny. */
  decision: Open<'allow' | 'deny' | 'require_approval'>;
  reason: string;
  determining_policies: string[];
  policy_revision: string;
  action_hash: string;
  tool_call: ToolCall;
  resolved: { tool: string; action: string };
  approval: ApprovalHead | null;
  grant_id: string | null;
  denial: Denial | null;
  dry_run: boolean;
}

export interface ApprovalHead {
  approval_id: string;
  status: Open<ApprovalStatus>;
  expires_at: string;
  action_hash: string;
  version: number;
}

export type ApprovalStatus =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'consumed'
  | 'cancelled'
  | 'voided';

export type ApprovalScope = 'once' | 'run' | 'session' | 'window' | 'allowlist';

export interface Vote {
  approver: string;
  decision: Open<'approve' | 'reject'>;
  scope: Open<ApprovalScope>;
  reason: string | null;
  at: string;
  /** Only of a vote that was signed. */
  signature?: VoteSignature;
}

export interface Edit {
  editor: string;
  reason: string | null;
  /** Of the action as this edit left it. */
  action_hash: string;
  at: string;
}

export interface Approval {
  approval_id: string;
  version: number;
  status: ApprovalStatus;
  agent: string;
  owner: string | null;
  context: JsonObject;
  original_tool_call: ToolCall;
  original_action_hash: string;
  tool_call: ToolCall;
  action_hash: string;
  /** The exact text that is hashed; null where a value is masked for this reader. */
  canonical_action: string | null;
  /** What is shown of the action, rendered by the service from its canonical text alone. */
  review: Review;
  /** JSON Pointers of values masked for this reader. */
  masked: string[];
  resolved: { tool: string; action: string };
  /** Whether it was ever edited; an edit may have led back to what was asked for. */
  edited: boolean;
  edits: Edit[];
  reason: string;
  determining_policies: string[];
  policy_revision: string;
  requirements: { votes: number; groups: string[]; signature: Open<'none' | 'webauthn'> };
  scopes: Open<ApprovalScope>[];
  votes: Vote[];
  /** The same action consumed by this agent in the last 24 hours. */
  recent: { approval_id: string; consumed_at: string; outcome: Outcome | null }[];
  decided_by: string | null;
  decision_reason: string | null;
  void_reason: Open<'policy' | 'key_revoked' | 'agent_frozen'> | null;
  created_at: string;
  expires_at: string;
  decided_at: string | null;
  consumed_at: string | null;
  outcome: Outcome | null;
}

export interface Outcome {
  outcome: 'executed' | 'failed' | 'unknown';
  effect: 'none' | 'occurred' | 'unknown' | null;
  enforcement_id: string | null;
  result_hash: string | null;
  detail: string | null;
  reported_at: string;
}

export interface ApprovalPage {
  items: Approval[];
  next_cursor: string | null;
}

export interface ApprovalQuery {
  status?: ApprovalStatus | undefined;
  agent?: string | undefined;
  tool?: string | undefined;
  outcome?: 'missing' | undefined;
  /** Items of one page, 1 to 200. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface ApproveInput {
  /** The hash the approver saw. Once an approval was edited, this or `ifMatchVersion` is required. */
  action_hash?: string | undefined;
  /** Of the `review` the approver saw; refused, as `integrity`, when the action is shown otherwise by now. */
  view_hash?: string | undefined;
  reason?: string | undefined;
  scope?: ApprovalScope | undefined;
  window_seconds?: number | undefined;
  max_uses?: number | undefined;
  /** The AuthenticationResponseJSON of a passkey to this vote's signature options. */
  signature?: Record<string, unknown> | undefined;
}

export interface RejectInput {
  view_hash?: string | undefined;
  signature?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

export interface EditInput {
  /** The whole tool call; only its parameters may differ. */
  tool_call: ToolCallInput;
  reason?: string | undefined;
}

export interface Binding {
  workspace?: string;
  environment?: string;
  session_id?: string;
}

export interface ConsumeInput {
  action_hash?: string | undefined;
  /** 16 to 128 characters, random per consume. Only with it is a lost answer asked for again. */
  consumer_token?: string | undefined;
  binding?: Binding | undefined;
}

export interface ConsumeAnswer {
  approval_id: string;
  status: 'consumed';
  action_hash: string;
  tool_call: ToolCall;
  consumed_at: string;
  /** True when the same token had consumed before: run nothing that may have run. */
  replayed: boolean;
}

export interface OutcomeInput {
  outcome: 'executed' | 'failed' | 'unknown';
  effect?: 'none' | 'occurred' | 'unknown' | undefined;
  enforcement_id?: string | undefined;
  result_hash?: string | undefined;
  /** At most 4,096 characters. */
  detail?: string | undefined;
}

/** Text with its secrets replaced. */
export interface ScrubAnswer {
  /** `clean`: as it was sent; `blocked`: it held what is not shown even in part, and is empty. */
  verdict: 'clean' | 'redacted' | 'blocked';
  bytes: Uint8Array;
}

export interface Me {
  tenant_id: string;
  principal: string;
  roles: string[];
  groups: string[];
  key_id: string;
  expires_at: string | null;
}

export type Role = 'agent' | 'approver' | 'operator' | 'auditor';

export interface KeyInput {
  principal: string;
  roles: Role[];
  groups?: string[] | undefined;
  owner?: string | undefined;
  expires_at?: string | undefined;
  source_trust_ceiling?: SourceTrust | undefined;
  environments?: string[] | undefined;
  workspaces?: string[] | undefined;
  unattended?: boolean | undefined;
  workspace_root?: string | undefined;
  skill?: boolean | undefined;
}

export interface KeyRecord {
  id: string;
  principal: string;
  roles: Open<Role>[];
  groups: string[];
  owner: string | null;
  source_trust_ceiling: SourceTrust;
  environments: string[] | null;
  workspaces: string[] | null;
  unattended: boolean;
  workspace_root: string | null;
  skill: boolean;
  created_by: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  revoke_reason: string | null;
}

export interface KeyList {
  items: KeyRecord[];
  /** All keys are on one page so far. */
  next_cursor: string | null;
}

/** A key with its token, which is shown this once. */
export interface CreatedKey extends KeyRecord {
  key: string;
}

export interface CreatedTenant {
  tenant_id: string;
  operator_key: { id: string; key: string };
}

/** RFC 9457 problem details. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  /** The service's own code, finer than this library's. */
  code: string;
  request_id: string;
  errors?: { pointer: string; reason: string }[];
  [member: string]: unknown;
}
