import { afterAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  expectOk,
  expectProblem,
  newAgent,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
  uuidOf,
  WRONG_HASH,
  withoutRequestId,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

const TOKEN = 'token-of-16-char';
const consume = (id: string, body?: object, by = service.agent) =>
  by.post(`/v1/approvals/${id}/consume`, body);

async function approvedWith(context: object): Promise<string> {
  const id = await ask(service.agent, refund(9000), context);
  expectOk(await service.approver.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
  return id;
}

describe('SINGLE CONSUME over HTTP', () => {
  test('gives the frozen action once, then 409', async () => {
    const toolCall = refund(9000, { memo: 'für Zoë 😀' });
    const id = await askApproved(service.agent, service.approver, toolCall);
    const { action_hash } = await readApproval(service.agent, id);
    const answer = await consume(id, { action_hash });
    expectOk(answer);
    expect(answer.body).toEqual({
      approval_id: id,
      status: 'consumed',
      action_hash,
      tool_call: toolCall,
      consumed_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      replayed: false,
    });
    expect(await readApproval(service.approver, id)).toMatchObject({
      status: 'consumed',
      consumed_at: answer.body.consumed_at,
      outcome: null,
    });
    for (const body of [undefined, { action_hash }, { consumer_token: TOKEN }]) {
      expectProblem(await consume(id, body), 409, 'approval_already_consumed', {
        approval_status: 'consumed',
      });
    }
  });

  test('another key of the asking principal consumes too', async () => {
    const agent = await newAgent(service);
    const id = await askApproved(agent.client, service.approver);
    const { token } = await makeKey(service.operator, { principal: agent.principal, roles: ['agent'] });
    expectOk(await consume(id, {}, service.as(token)), { status: 'consumed' });
  });

  test('another agent gets the 404 of what does not exist, and spends nothing', async () => {
    const id = await askApproved(service.agent, service.approver);
    const { client } = await newAgent(service);
    const foreign = await consume(id, {}, client);
    const missing = await consume(UNKNOWN_APPROVAL, {}, client);
    expectProblem(foreign, 404, 'not_found');
    expect(withoutRequestId(foreign)).toBe(withoutRequestId(missing));
    expectOk(await consume(id), { replayed: false });
  });

  test('approvers and operators do not consume', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectProblem(await consume(id, {}, service.approver), 403, 'forbidden');
    expectProblem(await consume(id, {}, service.operator), 403, 'forbidden');
  });
});

test('a wrong hash is 409 and does not spend', async () => {
  const id = await askApproved(service.agent, service.approver);
  expectProblem(
    await consume(id, { action_hash: WRONG_HASH, consumer_token: TOKEN }),
    409,
    'action_hash_mismatch',
    {
      approval_status: 'approved',
    },
  );
  expect((await readApproval(service.agent, id)).status).toBe('approved');
  expectOk(await consume(id), { replayed: false });
});

describe('binding', () => {
  const PLACE = { workspace: 'repo:payments', environment: 'production', session_id: 's-1' };

  test.each(Object.keys(PLACE))('a %s that differs is 409 and does not spend', async (member) => {
    const id = await approvedWith(PLACE);
    for (const value of ['elsewhere', `${PLACE[member as keyof typeof PLACE]} `, null]) {
      const answer = await consume(id, { binding: { ...PLACE, [member]: value } });
      expectProblem(answer, 409, 'binding_mismatch', {
        approval_status: 'approved',
        detail: expect.stringMatching(member),
      });
    }
    expectOk(await consume(id, { binding: PLACE }), { replayed: false });
  });

  test.each([
    [undefined],
    [{}],
    [{ workspace: PLACE.workspace }],
    [{ environment: PLACE.environment, session_id: PLACE.session_id }],
  ])('members left out bind nothing: %j', async (binding) => {
    const id = await approvedWith(PLACE);
    expectOk(await consume(id, { binding }), { status: 'consumed' });
  });

  test('a member given where the row has none differs, null does not', async () => {
    const id = await approvedWith({});
    expectProblem(await consume(id, { binding: { session_id: 's-1' } }), 409, 'binding_mismatch');
    expectOk(await consume(id, { binding: { session_id: null, workspace: null, environment: null } }));
  });

  test('what the key’s list filled in is bound as well', async () => {
    const agent = await newAgent(service, { environments: ['staging'] });
    const id = await askApproved(agent.client, service.approver);
    const elsewhere = { binding: { environment: 'production' } };
    expectProblem(await consume(id, elsewhere, agent.client), 409, 'binding_mismatch');
    expectOk(await consume(id, { binding: { environment: 'staging' } }, agent.client));
  });

  test.each([{ run_id: 'r' }, { workspace: 7 }, { workspace: '' }, 'x', null])(
    '%j is 422',
    async (binding) => {
      const id = await approvedWith({});
      expectProblem(await consume(id, { binding }), 422, 'invalid_request');
      expectOk(await consume(id));
    },
  );
});

describe('consumer_token', () => {
  test('the same token gets the same answer, as often as it asks', async () => {
    const id = await askApproved(service.agent, service.approver);
    const { action_hash } = await readApproval(service.agent, id);
    const first = await consume(id, { action_hash, consumer_token: TOKEN });
    expectOk(first, { replayed: false });
    for (const body of [{ action_hash, consumer_token: TOKEN }, { consumer_token: TOKEN }]) {
      const replay = await consume(id, body);
      expectOk(replay);
      expect(replay.body).toEqual({ ...first.body, replayed: true });
    }
  });

  test('any other token, or none, is 409', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id, { consumer_token: TOKEN }));
    for (const body of [
      undefined,
      {},
      { consumer_token: `${TOKEN}-` },
      { consumer_token: TOKEN.toUpperCase() },
    ]) {
      expectProblem(await consume(id, body), 409, 'approval_already_consumed');
    }
  });

  test('a consume without a token is replayed by none', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id));
    expectProblem(await consume(id, { consumer_token: TOKEN }), 409, 'approval_already_consumed');
    expectProblem(await consume(id), 409, 'approval_already_consumed');
  });

  test('a replay with a wrong hash or binding gives nothing', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id, { consumer_token: TOKEN }));
    const wrongHash = { consumer_token: TOKEN, action_hash: WRONG_HASH };
    expectProblem(await consume(id, wrongHash), 409, 'action_hash_mismatch');
    const wrongPlace = { consumer_token: TOKEN, binding: { workspace: 'x' } };
    expectProblem(await consume(id, wrongPlace), 409, 'binding_mismatch');
  });

  test('another agent’s same token is 404', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id, { consumer_token: TOKEN }));
    const { client } = await newAgent(service);
    expectProblem(await consume(id, { consumer_token: TOKEN }, client), 404, 'not_found');
  });

  test('replays end when the outcome is reported', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id, { consumer_token: TOKEN }));
    expectOk(await service.agent.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' }));
    expectProblem(await consume(id, { consumer_token: TOKEN }), 409, 'approval_already_consumed');
  });

  test('replays end at expires_at', async () => {
    const id = await askApproved(service.agent, service.approver);
    expectOk(await consume(id, { consumer_token: TOKEN }));
    await service.sql`update approvals set created_at = created_at - interval '1 day',
      consumed_at = consumed_at - interval '1 day', expires_at = clock_timestamp() where approval_id = ${uuidOf(id)}`;
    expectProblem(await consume(id, { consumer_token: TOKEN }), 409, 'approval_already_consumed');
  });

  test('is stored as a hash only', async () => {
    const id = await askApproved(service.agent, service.approver);
    const token = `secret-${'x'.repeat(40)}`;
    expectOk(await consume(id, { consumer_token: token }));
    const [row] = await service.sql`select row_to_json(a)::text as text from approvals a
      where approval_id = ${uuidOf(id)}`;
    expect(row?.text).toMatch(/"consumer_token_hash":"[0-9a-f]{64}"/);
    expect(row?.text).not.toContain(token);
  });

  test.each(['x'.repeat(15), 'x'.repeat(129), '', 7, null, 'with space in it!', 'ümlaut-ümlaut-ümlaut'])(
    '%j is 422 and does not spend',
    async (token) => {
      const id = await askApproved(service.agent, service.approver);
      expectProblem(await consume(id, { consumer_token: token }), 422, 'invalid_request');
      expectOk(await consume(id, { consumer_token: 'x'.repeat(128) }), { replayed: false });
    },
  );
});

describe('recent', () => {
  test('lists what this agent consumed of the same action in the last 24 hours, newest first', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const consumed: object[] = [];
    for (const outcome of [undefined, 'failed']) {
      const id = await askApproved(agent.client, service.approver, toolCall);
      const { body } = await consume(id, {}, agent.client);
      if (outcome) await agent.client.post(`/v1/approvals/${id}/outcome`, { outcome });
      consumed.unshift({
        approval_id: id,
        consumed_at: body.consumed_at,
        outcome: outcome ? expect.objectContaining({ outcome }) : null,
      });
    }
    const id = await ask(agent.client, toolCall);
    expect((await readApproval(service.approver, id)).recent).toEqual(consumed);
    const { body: page } = await agent.client.get('/v1/approvals?status=pending');
    expect(page.items[0].recent).toEqual(consumed);
  });

  test('leaves out other actions, other agents, what is older, and itself', async () => {
    const agent = await newAgent(service);
    const toolCall = refund(9000);
    const old = await askApproved(agent.client, service.approver, toolCall);
    await consume(old, {}, agent.client);
    await service.sql`update approvals set created_at = created_at - interval '25 hours',
      consumed_at = consumed_at - interval '25 hours' where approval_id = ${uuidOf(old)}`;
    const foreign = await askApproved(service.agent, service.approver, toolCall);
    await consume(foreign);
    const other = await askApproved(agent.client, service.approver, { ...toolCall, resource: 'ch_other' });
    await consume(other, {}, agent.client);
    const id = await askApproved(agent.client, service.approver, toolCall);
    await consume(id, {}, agent.client);
    expect((await readApproval(service.approver, id)).recent).toEqual([]);
  });
});

test('refusals and wrong hashes are counted', async () => {
  const readMetric = async (name: string) => {
    const { text } = await service.anonymous.get('/metrics');
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    );
  };
  const refused = (code: string) => readMetric(`approval_consume_refused_total{code="${code}"}`);
  const hashes = await readMetric('approval_hash_mismatch_total');
  const [mismatches, notApproved] = [
    await refused('action_hash_mismatch'),
    await refused('approval_not_approved'),
  ];
  const id = await ask(service.agent);
  await consume(id);
  await service.approver.post(`/v1/approvals/${id}/approve`, { action_hash: WRONG_HASH });
  await service.approver.post(`/v1/approvals/${id}/approve`);
  await consume(id, { action_hash: WRONG_HASH });
  await service.agent.post('/v1/authorize', { tool_call: refund(1), action_hash: WRONG_HASH });
  expect(await readMetric('approval_hash_mismatch_total')).toBe(hashes + 3);
  expect(await refused('action_hash_mismatch')).toBe(mismatches + 1);
  expect(await refused('approval_not_approved')).toBe(notApproved + 1);
});
