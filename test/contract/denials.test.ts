import { afterAll, describe, expect, test } from 'vitest';
import { ask, authorize, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { type Actor, editedCall, expectOk, expectProblem, newAgent, ROOMY, uuidOf } from './support.ts';

const DENIAL_SECONDS = 600;

const service = await startTestService({ env: { ...ROOMY, AEGIS_DENIAL_SECS: String(DENIAL_SECONDS) } });
afterAll(() => service.close());

const WORDS = 'we never refund a parcel that arrived';

/** Asks for a call and has it rejected; the approval's id. */
async function reject(agent: Actor, toolCall: object, session: string | null = null): Promise<string> {
  const id = await ask(agent.client, toolCall, { session_id: session });
  expectOk(await service.approver.post(`/v1/approvals/${id}/reject`, { reason: WORDS }));
  return id;
}

const askIn = (agent: Actor, toolCall: object, session: string | null, more: object = {}) =>
  authorize(agent.client, toolCall, { context: { session_id: session }, ...more });

const list = async (agent: Actor, query = '') => {
  const answer = await service.operator.get(`/v1/denials?agent=${agent.principal}${query}`);
  expectOk(answer);
  return answer.body;
};

/** Makes the rejections of an agent older than they hold beyond their session. */
const outlast = (agent: Actor) => service.sql`
  update denials set created_at = created_at - make_interval(secs => ${DENIAL_SECONDS}) where agent = ${agent.principal}`;

const deniedBy = (by: string) => ({ decision: 'deny', approval: null, denial: { by } });
const ASKED = { decision: 'require_approval', denial: null };

describe('an action that a person rejected', () => {
  test('asked again in the session is denied at once, in the person’s own words', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    await reject(agent, toolCall, 's-1');
    const answer = await askIn(agent, toolCall, 's-1');
    expectOk(answer, deniedBy('person'));
    expect(answer.body.denial.instruction).toContain(WORDS);
    expect(answer.body.determining_policies).not.toEqual([]);
  });

  test('is denied in the session for ever, and in others for AEGIS_DENIAL_SECS', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    await reject(agent, toolCall, 's-1');
    for (const session of ['s-2', null]) expectOk(await askIn(agent, toolCall, session), deniedBy('ledger'));
    await outlast(agent);
    expectOk(await askIn(agent, toolCall, 's-1'), deniedBy('person'));
    for (const session of ['s-2', null]) expectOk(await askIn(agent, toolCall, session), ASKED);
  });

  test('in no session holds for AEGIS_DENIAL_SECS everywhere', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    await reject(agent, toolCall);
    for (const session of ['s-1', null]) expectOk(await askIn(agent, toolCall, session), deniedBy('ledger'));
    await outlast(agent);
    for (const session of ['s-1', null]) expectOk(await askIn(agent, toolCall, session), ASKED);
  });

  test('is the same action under another spelling of its names and another word on what it changes', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    await reject(agent, toolCall, 's-1');
    for (const same of [
      { ...toolCall, tool: 'Stripe', action: ' REFUND ' },
      { ...toolCall, mutates_state: false },
    ]) {
      expectOk(await askIn(agent, same, 's-1'), deniedBy('person'));
    }
  });

  test('is another action with another resource, other parameters, or by another agent', async () => {
    const [agent, other] = [await newAgent(service), await newAgent(service)];
    const toolCall = refund(9000);
    await reject(agent, toolCall, 's-1');
    for (const another of [
      { ...toolCall, resource: 'ch_other' },
      { ...toolCall, resource: null },
      { ...toolCall, parameters: { ...toolCall.parameters, amount: 9001 } },
    ]) {
      expectOk(await askIn(agent, another, 's-1'), ASKED);
    }
    expectOk(await askIn(other, toolCall, 's-1'), ASKED);
  });

  test('is denied to a dry run as well', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    await reject(agent, toolCall, 's-1');
    expectOk(await askIn(agent, toolCall, 's-1', { dry_run: true }), {
      ...deniedBy('person'),
      dry_run: true,
    });
  });

  test('was edited before: both what was asked for and what it became are denied', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const id = await ask(agent.client, toolCall, { session_id: 's-1' });
    const edited = await editedCall(service.approver, id, { amount: 8000 });
    expectOk(await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited }));
    expectOk(await service.approver2.post(`/v1/approvals/${id}/reject`, { reason: WORDS }));
    for (const denied of [toolCall, edited]) expectOk(await askIn(agent, denied, 's-1'), deniedBy('person'));
    const { items } = await list(agent);
    expect(items).toHaveLength(2);
    expect(new Set(items.map((item: { action_hash: string }) => item.action_hash)).size).toBe(2);
    const session = await service.operator.get(`/v1/agents/${agent.principal}/sessions/s-1`);
    expectOk(session, { rejections: 1 });
  });

  test.each(['cancel', 'approve'])('is not one that met a %s', async (call) => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const id = await ask(agent.client, toolCall, { session_id: 's-1' });
    const by = call === 'cancel' ? agent.client : service.approver;
    expectOk(await by.post(`/v1/approvals/${id}/${call}`));
    expectOk(await askIn(agent, toolCall, 's-1'), ASKED);
    expect((await list(agent)).items).toStrictEqual([]);
  });
});

describe('GET /v1/denials', () => {
  test('lists what holds, newest first, with who denied it and why', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const first = await reject(agent, toolCall, 's-1');
    const second = await reject(agent, refund(9000));
    const { items, next_cursor } = await list(agent);
    expect(next_cursor).toBe(null);
    expect(items.map((item: { approval_id: string }) => item.approval_id)).toStrictEqual([second, first]);
    expect(items[1]).toStrictEqual({
      denial_id: expect.stringMatching(/^den_/),
      agent: agent.principal,
      session_id: 's-1',
      tool: 'stripe',
      action: 'refund',
      action_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      approval_id: first,
      denied_by: 'approver-1',
      reason: WORDS,
      created_at: expect.any(String),
    });
  });

  test('leaves out what no longer holds anywhere', async () => {
    const agent = await newAgent(service);
    const inSession = await reject(agent, refund(9000), 's-1');
    await reject(agent, refund(9000));
    await outlast(agent);
    const { items } = await list(agent);
    expect(items.map((item: { approval_id: string }) => item.approval_id)).toStrictEqual([inSession]);
  });

  test('comes in pages that miss nothing', async () => {
    const agent = await newAgent(service);
    const ids = [];
    for (let time = 0; time < 5; time += 1) ids.unshift(await reject(agent, refund(9000)));
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await list(agent, `&limit=2${cursor}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      seen.push(...page.items.map((item: { approval_id: string }) => item.approval_id));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toStrictEqual(ids);
  });

  test.each(['limit=0', 'limit=201', 'limit=x', 'cursor=apr_1', 'agent=a%20b', 'tool=stripe'])(
    'refuses ?%s',
    async (query) => {
      expectProblem(await service.operator.get(`/v1/denials?${query}`), 422, 'invalid_request');
    },
  );
});

describe('DELETE /v1/denials/:id', () => {
  test('lifts one: the action may be asked for again, and no other', async () => {
    const agent = await newAgent(service);
    const [lifted, kept] = [refund(9000), refund(9000)];
    const id = await reject(agent, lifted, 's-1');
    await reject(agent, kept, 's-1');
    const { items } = await list(agent);
    const denial = items.find((item: { approval_id: string }) => item.approval_id === id);
    expect((await service.operator.delete(`/v1/denials/${denial.denial_id}`)).status).toBe(204);
    expectOk(await askIn(agent, lifted, 's-1'), ASKED);
    expectOk(await askIn(agent, kept, 's-1'), deniedBy('person'));
    expect((await list(agent)).items).toHaveLength(1);
    const [row] =
      await service.sql`select lifted_by from denials where denial_id = ${uuidOf(denial.denial_id)}`;
    expect(row?.lifted_by).toBe('operator-1');
  });

  test('of one that was lifted, or that is not there, is 404', async () => {
    const agent = await newAgent(service);
    await reject(agent, refund(9000));
    const [{ denial_id: id }] = (await list(agent)).items;
    expect((await service.operator.delete(`/v1/denials/${id}`)).status).toBe(204);
    for (const gone of [id, 'den_01890a5d-ac96-774b-bcce-b302099a8057', id.replace('den_', 'apr_'), 'x']) {
      expectProblem(await service.operator.delete(`/v1/denials/${gone}`), 404, 'not_found');
    }
  });

  test('leaves the pause that the rejection was part of', async () => {
    const agent = await newAgent(service);
    for (let time = 0; time < 3; time += 1) await reject(agent, refund(9000), 's-1');
    for (const { denial_id: id } of (await list(agent)).items) {
      expect((await service.operator.delete(`/v1/denials/${id}`)).status).toBe(204);
    }
    expectOk(await askIn(agent, refund(9000), 's-1'), deniedBy('pause'));
  });
});

test.each(['agent', 'approver'] as const)('a key with the role %s neither lists nor lifts', async (who) => {
  const agent = await newAgent(service);
  await reject(agent, refund(9000));
  const [{ denial_id: id }] = (await list(agent)).items;
  expectProblem(await service[who].get('/v1/denials'), 403, 'forbidden');
  expectProblem(await service[who].delete(`/v1/denials/${id}`), 403, 'forbidden');
  expect((await list(agent)).items).toHaveLength(1);
});

test('another tenant sees and lifts nothing of it', async () => {
  await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
  const made = await service.operator.post('/v1/tenants', { tenant_id: 'theirs' });
  const theirs = service.as(made.body.operator_key.key);
  const agent = await newAgent(service);
  await reject(agent, refund(9000));
  const [{ denial_id: id }] = (await list(agent)).items;
  expect((await theirs.get('/v1/denials')).body.items).toStrictEqual([]);
  expectProblem(await theirs.delete(`/v1/denials/${id}`), 404, 'not_found');
  expect((await list(agent)).items).toHaveLength(1);
});
