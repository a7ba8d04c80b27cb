import { afterAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  editedCall,
  expectOk,
  expectProblem,
  newActor,
  newAgent,
  newApprover,
  ROOMY,
  readApproval,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

async function consumed(): Promise<string> {
  const id = await askApproved(service.agent, service.approver);
  expectOk(await service.agent.post(`/v1/approvals/${id}/consume`));
  return id;
}

const report = (id: string, body?: object, by = service.agent) =>
  by.post(`/v1/approvals/${id}/outcome`, body);
const cancel = (id: string, body?: object, by = service.agent) => by.post(`/v1/approvals/${id}/cancel`, body);

describe('outcome', () => {
  test.each(['executed', 'failed', 'unknown'])('%s alone', async (outcome) => {
    const id = await consumed();
    expectOk(await report(id, { outcome }), {
      status: 'consumed',
      version: 1,
      outcome: {
        outcome,
        effect: null,
        enforcement_id: null,
        result_hash: null,
        detail: null,
        reported_at: expect.stringMatching(/\.\d{3}Z$/),
      },
    });
  });

  test.each(['none', 'occurred', 'unknown'])('with every member, effect %s', async (effect) => {
    const id = await consumed();
    const full = {
      outcome: 'failed',
      effect,
      enforcement_id: 'enf-1',
      result_hash: 'a'.repeat(64),
      detail: `line one\nline two ${'x'.repeat(4000)}`,
    };
    const answer = await report(id, full);
    expectOk(answer, { outcome: full });
    expect(answer.headers.get('etag')).toBe('"1"');
    expect((await readApproval(service.approver, id)).outcome).toEqual(answer.body.outcome);
  });

  test('once: the second is 409 and changes nothing, the same one too', async () => {
    const id = await consumed();
    const first = await report(id, { outcome: 'executed' });
    for (const outcome of ['executed', 'failed']) {
      expectProblem(await report(id, { outcome }), 409, 'outcome_already_reported', {
        approval_status: 'consumed',
      });
    }
    expect((await readApproval(service.agent, id)).outcome).toEqual(first.body.outcome);
  });

  test.each([
    [undefined, ''],
    [{}, '/outcome'],
    [{ outcome: 'done' }, '/outcome'],
    [{ outcome: 'executed', effect: 'some' }, '/effect'],
    [{ outcome: 'executed', result_hash: 'abc' }, '/result_hash'],
    [{ outcome: 'executed', detail: 'x'.repeat(4097) }, '/detail'],
    [{ outcome: 'executed', detail: 7 }, '/detail'],
    [{ outcome: 'executed', cost: 7 }, '/cost'],
  ])('%j is 422', async (body, pointer) => {
    const id = await consumed();
    const answer = await report(id, body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].pointer).toBe(pointer);
    expectOk(await report(id, { outcome: 'executed', detail: 'x'.repeat(4096) }));
  });

  test('is the consuming agent’s: another agent gets 404, one who reads all 403, other roles 403', async () => {
    const id = await consumed();
    const body = { outcome: 'executed' };
    expectProblem(await report(id, body, (await newAgent(service)).client), 404, 'not_found');
    const reader = await newActor(service, ['agent', 'auditor']);
    expectProblem(await report(id, body, reader.client), 403, 'forbidden');
    expectProblem(await report(id, body, service.approver), 403, 'forbidden');
    expectOk(await report(id, body));
  });
});

describe('cancel', () => {
  test.each(['pending', 'approved'])('the asking agent, with another key too: %s', async (status) => {
    const agent = await newAgent(service);
    const id =
      status === 'pending' ? await ask(agent.client) : await askApproved(agent.client, service.approver);
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectOk(await cancel(id, { reason: 'changed my mind' }, service.as(token)), {
      status: 'cancelled',
      decided_by: agent.principal,
      decision_reason: 'changed my mind',
    });
  });

  test.each(['pending', 'approved'])('an operator: %s', async (status) => {
    const id =
      status === 'pending' ? await ask(service.agent) : await askApproved(service.agent, service.approver);
    expectOk(await cancel(id, {}, service.operator), { status: 'cancelled', decided_by: 'operator-1' });
  });

  test('an approver whose vote is on it: pending and approved', async () => {
    const pending = await ask(service.agent, refund(200_000));
    expectOk(await service.approver.post(`/v1/approvals/${pending}/approve`), { status: 'pending' });
    expectOk(await cancel(pending, {}, service.approver), { status: 'cancelled', decided_by: 'approver-1' });
    const approved = await askApproved(service.agent, service.approver);
    expectOk(await cancel(approved, {}, service.approver), { status: 'cancelled' });
  });

  test('an approver whose vote is not on it is not eligible, and the detail says who could', async () => {
    const approved = await askApproved(service.agent, service.approver);
    for (const id of [approved, await ask(service.agent)]) {
      expectProblem(await cancel(id, {}, service.approver2), 403, 'approver_not_eligible', {
        detail: expect.stringMatching(/asking agent.*operator.*vote/),
      });
    }
  });

  test('a vote that an edit dropped is no vote', async () => {
    const id = await ask(service.agent, refund(200_000));
    expectOk(await service.approver.post(`/v1/approvals/${id}/approve`));
    const tool_call = await editedCall(service.approver2, id, { amount: 150_000 });
    expectOk(await service.approver2.post(`/v1/approvals/${id}/edit`, { tool_call }));
    expectProblem(await cancel(id, {}, service.approver), 403, 'approver_not_eligible');
  });

  test('another agent gets 404; one who reads all is not eligible', async () => {
    const id = await ask(service.agent);
    expectProblem(await cancel(id, {}, (await newAgent(service)).client), 404, 'not_found');
    const reader = await newActor(service, ['agent', 'approver']);
    expectProblem(await cancel(id, {}, reader.client), 403, 'approver_not_eligible');
  });

  test('frees a pending place, and a cancelled approval cannot be consumed', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await cancel(id));
    expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`), 409, 'approval_not_approved', {
      approval_status: 'cancelled',
    });
  });

  test('its owner and approver keys of the agent’s principal have no right of their own', async () => {
    const owner = await newApprover(service);
    const agent = await newAgent(service, { owner: owner.principal });
    const id = await ask(agent.client);
    expectProblem(await cancel(id, {}, owner.client), 403, 'approver_not_eligible');
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['approver'] });
    expectProblem(await cancel(id, {}, service.as(token)), 403, 'approver_not_eligible');
  });
});
