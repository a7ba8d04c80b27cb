import { afterAll, describe, test } from 'vitest';
import type { ApiClient, CallOptions } from '../support/api_client.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  expire,
  newActor,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
  uuidOf,
  WRONG_HASH,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const STALE = { headers: { 'if-match': '"99"' } };
const BROKEN_BODIES: [number, string, CallOptions][] = [
  [400, 'invalid_json', { rawBody: '{' }],
  [413, 'body_too_large', { rawBody: `{"reason":"${'x'.repeat(256 * 1024)}"}` }],
  [415, 'unsupported_media_type', { rawBody: '{}', headers: { 'content-type': 'text/plain' } }],
  [422, 'invalid_request', { rawBody: '{"unknown":1}' }],
];

/** An approval of amount 9000, edited by an approver made for it. */
async function askEdited(): Promise<{ id: string; editor: ApiClient }> {
  const id = await ask(service.agent);
  const editor = await newApprover(service);
  const tool_call = await editedCall(service.approver, id, { amount: 8000 });
  expectOk(await editor.client.post(`/v1/approvals/${id}/edit`, { tool_call }), { version: 2 });
  return { id, editor: editor.client };
}

/** Spends this credential's attempts on an id. */
async function useUpAttempts(client: ApiClient, id: string): Promise<void> {
  for (let count = 0; count < 5; count += 1) {
    const answer = await client.post(`/v1/approvals/${id}/consume`, { action_hash: WRONG_HASH });
    if (answer.status !== 409 && answer.status !== 404) throw new Error(answer.text);
  }
}

describe('the earlier check wins when a request fails several', () => {
  test('401 before all: no credential, and a frozen key that was revoked', async () => {
    const agent = await newAgent(service);
    await service.sql`update keys set frozen_at = clock_timestamp() where key_id = ${uuidOf(agent.keyId)}`;
    await service.operator.delete(`/v1/keys/${agent.keyId}`);
    for (const client of [service.anonymous, agent.client]) {
      for (const [, , broken] of BROKEN_BODIES) {
        const answer = await client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/approve`, undefined, broken);
        expectProblem(answer, 401, 'unauthenticated');
      }
    }
  });

  test('frozen 403 before role, throttle, body and 404', async () => {
    const agent = await newAgent(service);
    await useUpAttempts(agent.client, UNKNOWN_APPROVAL);
    await service.sql`update keys set frozen_at = clock_timestamp() where key_id = ${uuidOf(agent.keyId)}`;
    const wrongRole = agent.client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/approve`, undefined, {
      rawBody: '{',
    });
    expectProblem(await wrongRole, 403, 'agent_frozen');
    const throttled = agent.client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/consume`, undefined, {
      rawBody: '{',
    });
    expectProblem(await throttled, 403, 'agent_frozen');
    expectProblem(await agent.client.get('/v1/me'), 403, 'agent_frozen');
  });

  test('role 403 before throttle, body and 404', async () => {
    const agent = await newAgent(service);
    await useUpAttempts(agent.client, UNKNOWN_APPROVAL);
    for (const [, , broken] of BROKEN_BODIES) {
      const answer = await agent.client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/approve`, undefined, broken);
      expectProblem(answer, 403, 'forbidden');
    }
  });

  test('throttle 429 before body and 404, also where the statement itself tests it', async () => {
    const both = await newActor(service, ['agent', 'approver']);
    await useUpAttempts(both.client, UNKNOWN_APPROVAL);
    for (const call of ['approve', 'consume', 'reject', 'cancel', 'outcome', 'edit']) {
      for (const [, , broken] of BROKEN_BODIES) {
        const answer = await both.client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/${call}`, undefined, broken);
        expectProblem(answer, 429, 'throttled');
      }
    }
    expectProblem(await both.client.get(`/v1/approvals/${UNKNOWN_APPROVAL}?wait=999`), 429, 'throttled');
  });

  test.each(['approve', 'reject', 'edit', 'cancel', 'consume', 'outcome'])(
    'body 400, 413, 415, 422 before 404: %s',
    async (call) => {
      const both = await newActor(service, ['agent', 'approver']);
      for (const [status, code, broken] of BROKEN_BODIES) {
        const answer = await both.client.post(`/v1/approvals/${UNKNOWN_APPROVAL}/${call}`, undefined, broken);
        expectProblem(answer, status, code);
      }
    },
  );

  test('headers and query of the wrong shape 422 before 404', async () => {
    const path = `/v1/approvals/${UNKNOWN_APPROVAL}`;
    const junk = { headers: { 'if-match': '*' } };
    for (const call of ['approve', 'reject', 'cancel']) {
      expectProblem(await service.approver.post(`${path}/${call}`, {}, junk), 422, 'invalid_request');
    }
    expectProblem(await service.approver.get(`${path}?wait=56`), 422, 'invalid_request');
    expectProblem(
      await service.approver.post(`${path}/approve`, { scope: 'window' }),
      422,
      'invalid_request',
    );
  });

  test('404 before 410 and 409: another agent learns nothing of the state', async () => {
    const expired = await ask(service.agent);
    await expire(service, expired);
    const other = await newAgent(service);
    for (const id of [expired, await ask(service.agent)]) {
      for (const call of ['consume', 'cancel']) {
        expectProblem(await other.client.post(`/v1/approvals/${id}/${call}`), 404, 'not_found');
      }
    }
  });

  test('410 before 412, hash and eligibility', async () => {
    const { id, editor } = await askEdited();
    await expire(service, id);
    const body = { action_hash: WRONG_HASH };
    expectProblem(await editor.post(`/v1/approvals/${id}/approve`, body, STALE), 410, 'approval_expired');
    expectProblem(await editor.post(`/v1/approvals/${id}/approve`), 410, 'approval_expired');
    const consume = { action_hash: WRONG_HASH, binding: { workspace: 'elsewhere' } };
    expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`, consume), 410, 'approval_expired');
  });

  test('409 state before 412, 428, hash, binding and eligibility', async () => {
    const { id, editor } = await askEdited();
    const consume = { action_hash: WRONG_HASH, binding: { workspace: 'elsewhere' } };
    for (const body of [consume, {}]) {
      const answer = await service.agent.post(`/v1/approvals/${id}/consume`, body);
      expectProblem(answer, 409, 'approval_not_approved', { approval_status: 'pending' });
    }
    expectOk(await service.approver.post(`/v1/approvals/${id}/reject`));
    const answer = await editor.post(`/v1/approvals/${id}/approve`, { action_hash: WRONG_HASH }, STALE);
    expectProblem(answer, 409, 'approval_already_decided');
    expectProblem(await editor.post(`/v1/approvals/${id}/approve`), 409, 'approval_already_decided');
  });

  test('412 before hash and eligibility', async () => {
    const { id, editor } = await askEdited();
    const wrong = { action_hash: WRONG_HASH };
    for (const client of [editor, service.approver]) {
      expectProblem(await client.post(`/v1/approvals/${id}/approve`, wrong, STALE), 412, 'stale_version');
    }
    const stranger = await newApprover(service);
    expectProblem(await stranger.client.post(`/v1/approvals/${id}/cancel`, {}, STALE), 412, 'stale_version');
  });

  test('412 before an edit is looked at', async () => {
    const id = await ask(service.agent);
    const { tool_call } = await readApproval(service.approver, id);
    const answer = await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call }, STALE);
    expectProblem(answer, 412, 'stale_version');
  });

  test('428 before binding and eligibility', async () => {
    const { id, editor } = await askEdited();
    expectProblem(await editor.post(`/v1/approvals/${id}/approve`), 428, 'precondition_required');
    expectOk(
      await service.approver.post(`/v1/approvals/${id}/approve`, {}, { headers: { 'if-match': '"2"' } }),
    );
    const answer = await service.agent.post(`/v1/approvals/${id}/consume`, {
      binding: { workspace: 'elsewhere' },
    });
    expectProblem(answer, 428, 'precondition_required');
  });

  test('hash 409 before eligibility', async () => {
    const { id, editor } = await askEdited();
    const answer = await editor.post(`/v1/approvals/${id}/approve`, { action_hash: WRONG_HASH });
    expectProblem(answer, 409, 'action_hash_mismatch');
    const rightHash = { action_hash: (await readApproval(service.approver, id)).action_hash };
    expectProblem(
      await editor.post(`/v1/approvals/${id}/approve`, rightHash),
      403,
      'self_approval_forbidden',
    );
  });

  test('hash 409 before binding 409 before eligibility 403', async () => {
    const id = await askApproved(service.agent, service.approver, refund(9000));
    const other = await newActor(service, ['agent', 'approver']);
    const consume = (body: object) => other.client.post(`/v1/approvals/${id}/consume`, body);
    const binding = { workspace: 'elsewhere' };
    expectProblem(await consume({ action_hash: WRONG_HASH, binding }), 409, 'action_hash_mismatch');
    expectProblem(await consume({ binding }), 409, 'binding_mismatch');
    expectProblem(await consume({}), 403, 'forbidden');
    expectOk(await service.agent.post(`/v1/approvals/${id}/consume`));
  });

  test('eligibility 403 is judged for edit before the edited action', async () => {
    const operator = await makeKey(service.operator, { principal: 'operator-2', roles: ['operator'] });
    const id = await ask(service.agent);
    const tool_call = await editedCall(service.approver, id, { amount: 0 });
    const answer = await service.as(operator.token).post(`/v1/approvals/${id}/edit`, { tool_call });
    expectProblem(answer, 403, 'forbidden');
  });
});
