import type { JsonObject, JsonValue } from '../../../src/core/json.ts';
import { IntegrityError } from './errors.ts';
import type { Approval, ApprovalPage, AuthorizeAnswer, ConsumeAnswer, ScrubAnswer } from './wire.ts';

/**
 * Checks of what the sequence relies on in an answer; the rest of it is taken as the contract types it. What fails
 * here was read and does not mean what it must, so nothing may run on it: an `IntegrityError`.
 */

const HASH = /^[0-9a-f]{64}$/;

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer of any endpoint that answers with an object. */
export function readObject<T>(what: string, value: JsonValue | undefined): T {
  return objectOf(what, value) as unknown as T;
}

export function readAuthorize(value: JsonValue | undefined): AuthorizeAnswer {
  const what = 'authorize';
  const answer = objectOf(what, value);
  expect(what, 'decision_id', typeof answer.decision_id === 'string');
  expect(what, 'decision', typeof answer.decision === 'string');
  expect(what, 'reason', typeof answer.reason === 'string');
  expect(what, 'action_hash', isHash(answer.action_hash));
  expect(what, 'dry_run', typeof answer.dry_run === 'boolean');
  if (answer.decision === 'require_approval' && answer.dry_run === false) {
    const head = objectOf(what, answer.approval);
    expect(what, 'approval.approval_id', typeof head.approval_id === 'string');
    expect(what, 'approval.action_hash', head.action_hash === answer.action_hash);
  }
  return answer as unknown as AuthorizeAnswer;
}

export function readApproval(what: string, value: JsonValue | undefined, approvalId: string): Approval {
  const approval = objectOf(what, value);
  checkApproval(what, approval);
  expect(what, 'approval_id', approval.approval_id === approvalId);
  return approval as unknown as Approval;
}

export function readApprovalPage(value: JsonValue | undefined): ApprovalPage {
  const what = 'list approvals';
  const page = objectOf(what, value);
  expect(what, 'items', Array.isArray(page.items));
  expect(what, 'next_cursor', page.next_cursor === null || typeof page.next_cursor === 'string');
  for (const item of page.items as JsonValue[]) {
    checkApproval(what, objectOf(what, item));
  }
  return page as unknown as ApprovalPage;
}

export function readConsume(value: JsonValue | undefined, approvalId: string): ConsumeAnswer {
  const what = 'consume';
  const answer = objectOf(what, value);
  expect(what, 'approval_id', answer.approval_id === approvalId);
  expect(what, 'status', answer.status === 'consumed');
  expect(what, 'action_hash', isHash(answer.action_hash));
  expect(what, 'replayed', typeof answer.replayed === 'boolean');
  checkToolCall(what, 'tool_call', answer.tool_call);
  return answer as unknown as ConsumeAnswer;
}

/** Text that the service held back is empty; an answer that says so and is not is another's. */
export function readScrub(verdict: string | null, bytes: Uint8Array): ScrubAnswer {
  const isKnown = verdict === 'clean' || verdict === 'redacted' || verdict === 'blocked';
  if (!isKnown || (verdict === 'blocked' && bytes.length > 0)) {
    throw new IntegrityError('scrub: the answer does not say what the contract has it say');
  }
  return { verdict, bytes };
}

function checkApproval(what: string, approval: JsonObject): void {
  expect(what, 'approval_id', typeof approval.approval_id === 'string');
  expect(what, 'status', typeof approval.status === 'string');
  expect(what, 'version', Number.isSafeInteger(approval.version));
  expect(what, 'edited', typeof approval.edited === 'boolean');
  expect(what, 'action_hash', isHash(approval.action_hash));
  expect(what, 'original_action_hash', isHash(approval.original_action_hash));
  expect(what, 'created_at', isTime(approval.created_at));
  expect(what, 'expires_at', isTime(approval.expires_at));
  checkToolCall(what, 'tool_call', approval.tool_call);
  checkToolCall(what, 'original_tool_call', approval.original_tool_call);
}

function checkToolCall(what: string, member: string, value: JsonValue | undefined): void {
  const call = objectOf(what, value);
  expect(what, `${member}.tool`, typeof call.tool === 'string');
  expect(what, `${member}.action`, typeof call.action === 'string');
  expect(what, `${member}.resource`, call.resource === null || typeof call.resource === 'string');
  expect(what, `${member}.mutates_state`, typeof call.mutates_state === 'boolean');
  expect(what, `${member}.parameters`, isObject(call.parameters));
}

function objectOf(what: string, value: JsonValue | undefined): JsonObject {
  if (!isObject(value)) {
    throw new IntegrityError(`${what}: the answer has no object where the contract has one`);
  }
  return value;
}

function expect(what: string, member: string, holds: boolean): void {
  if (!holds) {
    throw new IntegrityError(`${what}: \`${member}\` of the answer is not what the contract says`);
  }
}

function isHash(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && HASH.test(value);
}

function isTime(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
