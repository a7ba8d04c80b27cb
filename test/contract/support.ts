import { createHash, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { makeKey } from '../support/calls.ts';
import type { TestService } from '../support/test_service.ts';

/** The limits of an agent out of the way, for files that ask often. */
export const ROOMY = { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' };

const REQUEST_ID = /^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An id of the right form that names nothing. */
export const UNKNOWN_APPROVAL = 'apr_01890a5d-ac96-774b-bcce-b302099a8057';
export const UNKNOWN_KEY = 'key_01890a5d-ac96-774b-bcce-b302099a8057';
/** A hash of the right form that is no action's. */
export const WRONG_HASH = 'f'.repeat(64);

/** Asserts a problem document (RFC 9457) with this status and code, and members where given. */
export function expectProblem(answer: ApiAnswer, status: number, code: string, members: object = {}): void {
  expect({ status: answer.status, code: answer.body?.code, body: answer.text }).toMatchObject({
    status,
    code,
  });
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.body).toMatchObject({
    type: `urn:aegis:problem:${code.replaceAll('_', '-')}`,
    status,
    title: expect.stringMatching(/./),
    detail: expect.stringMatching(/./),
    request_id: expect.stringMatching(REQUEST_ID),
    ...members,
  });
}

/** Asserts status 200 and these members. */
export function expectOk(answer: ApiAnswer, members: object = {}): void {
  expect({ status: answer.status, body: answer.text }).toMatchObject({ status: 200 });
  expect(answer.body).toMatchObject(members);
}

/** The body without the one member that differs between equal problems. */
export function withoutRequestId(answer: ApiAnswer): string {
  return answer.text.replace(/req_[0-9a-f-]+/, 'req_');
}

/** A principal's name that no other test uses. */
export function newName(of: string): string {
  return `${of}-${randomUUID()}`;
}

export interface Actor {
  client: ApiClient;
  principal: string;
  keyId: string;
  token: string;
}

/** Makes a principal of its own with one key. */
export async function newActor(service: TestService, roles: string[], more: object = {}): Promise<Actor> {
  const principal = newName(roles[0] ?? 'nobody');
  const { token, id } = await makeKey(service.operator, { principal, roles, ...more });
  return { client: service.as(token), principal, keyId: id, token };
}

export function newAgent(service: TestService, more: object = {}): Promise<Actor> {
  return newActor(service, ['agent'], more);
}

export function newApprover(service: TestService, groups: string[] = []): Promise<Actor> {
  return newActor(service, ['approver'], { groups });
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The UUID of an id, as the database has it. */
export function uuidOf(id: string): string {
  return id.slice(4);
}

/** Moves an approval's whole life into the past, so that it expired a moment ago. */
export async function expire(service: TestService, approvalId: string): Promise<void> {
  await service.sql`update approvals
    set created_at = created_at - interval '1 day', expires_at = clock_timestamp() - interval '1 millisecond'
    where approval_id = ${uuidOf(approvalId)}`;
}

export async function readApproval(client: ApiClient, id: string): Promise<ApiAnswer['body']> {
  const answer = await client.get(`/v1/approvals/${id}`);
  expectOk(answer);
  return answer.body;
}

/** The call that an approval freezes, with other parameters. */
export async function editedCall(client: ApiClient, id: string, parameters: object): Promise<object> {
  const { tool_call } = await readApproval(client, id);
  return { ...tool_call, parameters: { ...tool_call.parameters, ...parameters } };
}
