import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { type EventClient, openEvents, tellsOf } from '../support/event_client.ts';
import { startTestService } from '../support/test_service.ts';
import { editedCall, expire, newName, ROOMY, readApproval, uuidOf } from './support.ts';

const PLATFORM = 'bootstrap-operator-and-platform-key-of-this-test';

const service = await startTestService({ env: { ...ROOMY, AEGIS_BOOTSTRAP_OPERATOR_KEY: PLATFORM } });
afterAll(() => service.close());

const open: EventClient[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

async function listen(token: string | undefined, lastEventId?: string, more = {}): Promise<EventClient> {
  const client = await openEvents(service.url, { token, lastEventId, ...more });
  open.push(client);
  return client;
}

interface Person {
  client: ApiClient;
  token: string;
  keyId: string;
  principal: string;
}

/** A tenant of its own, so that what a test hears is its own doing. */
async function newTenant() {
  const made = await service.as(PLATFORM).post('/v1/tenants', { tenant_id: newName('t') });
  const operatorToken: string = made.body.operator_key.key;
  const operator = service.as(operatorToken);
  const make = async (principal: string, roles: string[], more = {}): Promise<Person> => {
    const { token, id } = await makeKey(operator, { principal, roles, ...more });
    return { client: service.as(token), token, keyId: id, principal };
  };
  return {
    operator,
    operatorToken,
    make,
    agent: await make('agent-1', ['agent']),
    finance: await make('approver-1', ['approver'], { groups: ['finance'] }),
    security: await make('approver-2', ['approver'], { groups: ['security'] }),
  };
}

const ours = await newTenant();

/** Moves an approval's life so that so many of its 1,000 seconds have passed. */
async function ageTo(id: string, seconds: number): Promise<void> {
  await service.sql`update approvals
    set created_at = clock_timestamp() - make_interval(secs => ${seconds}),
        expires_at = clock_timestamp() + make_interval(secs => ${1000 - seconds})
    where approval_id = ${uuidOf(id)}`;
}

describe('the stream', () => {
  test('opens at once, with headers that keep it from being stored or gathered', async () => {
    const client = await listen(ours.finance.token);
    expect({ status: client.status, text: client.text() }).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^: open\nretry: \d+\nid: \d+-\d+\n\n$/),
    });
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
  });

  test('answers HEAD with its headers alone, and holds nothing open for it', async () => {
    for (let repeat = 0; repeat < 310; repeat += 1) {
      const response = await fetch(`${service.url}/v1/events`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${ours.finance.token}` },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    }
    expect((await listen(ours.finance.token)).status).toBe(200);
  }, 60_000);

  test('is a problem, and no stream, for who may not hear', async () => {
    const platform = await ours.make(newName('p'), ['auditor']);
    await service.sql`update keys set roles = '{platform}' where key_id = ${uuidOf(platform.keyId)}`;
    const frozen = await ours.make(newName('a'), ['agent']);
    await ours.operator.post(`/v1/agents/${frozen.principal}/freeze`);
    const answers = [];
    for (const token of [undefined, 'aeg_unknown', platform.token, frozen.token]) {
      const { status, headers, text } = await listen(token);
      answers.push({ status, type: headers['content-type'], code: JSON.parse(text()).code });
    }
    const type = 'application/problem+json';
    expect(answers).toStrictEqual([
      { status: 401, type, code: 'unauthenticated' },
      { status: 401, type, code: 'unauthenticated' },
      { status: 403, type, code: 'forbidden' },
      { status: 403, type, code: 'agent_frozen' },
    ]);
  });

  test.each([
    '1',
    '1-',
    '-1',
    '01-1',
    '1-1-1',
    'a-b',
    '1-1;x',
    '1-9999999999999999999',
    '99999999999999999999-1',
  ])('refuses `%s` as the last event’s id, and says what one is', async (id) => {
    const client = await listen(ours.finance.token, id);
    expect({ status: client.status, ...JSON.parse(client.text()) }).toMatchObject({
      status: 422,
      code: 'invalid_request',
      detail: expect.stringMatching(/`last-event-id`.*\. Send the `id`/),
    });
  });

  test('refuses the 301st of one key, and has room again once one is closed', async () => {
    const { token } = await ours.make(newName('v'), ['approver']);
    const clients = await Promise.all(Array.from({ length: 300 }, () => listen(token)));
    expect(new Set(clients.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await listen(token);
    expect({ status: refused.status, after: refused.headers['retry-after'] }).toEqual({
      status: 429,
      after: '5',
    });
    expect(JSON.parse(refused.text())).toMatchObject({ code: 'throttled' });
    expect((await listen(ours.finance.token)).status).toBe(200);
    clients[0]?.close();
    await expect.poll(async () => (await listen(token)).status).toBe(200);
  }, 60_000);
});

describe('each change of an approval is told once, in order', () => {
  async function tells(id: string, count: number, client: EventClient): Promise<string[]> {
    await expect
      .poll(() => tellsOf(client.events, id).length, { timeout: 10_000 })
      .toBeGreaterThanOrEqual(count);
    return tellsOf(client.events, id);
  }

  test('asked, approved, consumed; what is told is in the form that the OpenAPI document gives', async () => {
    const client = await listen(ours.finance.token);
    const call = refund(9000);
    const context = { session_id: 's-1', run_id: 'r-1', workspace: 'repo:a', environment: 'production' };
    const id = await ask(ours.agent.client, call, context);
    await ours.finance.client.post(`/v1/approvals/${id}/approve`, { reason: 'seen' });
    await ours.agent.client.post(`/v1/approvals/${id}/consume`);
    await ours.agent.client.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' });
    expect(await tells(id, 4, client)).toEqual(['requested', 'voted', 'decided', 'consumed']);

    const { created_at, expires_at, action_hash } = await readApproval(ours.finance.client, id);
    expect(client.events[0]?.data).toMatchObject({
      type: 'approval.requested',
      approval_id: id,
      version: 1,
      status: 'pending',
      agent: 'agent-1',
      ...context,
      tool: 'stripe',
      action: 'refund',
      resource: call.resource,
      action_hash,
      edited: false,
      votes_required: 1,
      created_at,
      expires_at,
    });
    expect(client.events.map(({ data }) => data.status)).toEqual([
      'pending',
      'pending',
      'approved',
      'consumed',
    ]);
    expect(client.events.at(-1)?.data).toMatchObject({
      decided_by: 'approver-1',
      decision_reason: 'seen',
      votes: 1,
    });
    const document = await (await fetch(`${service.url}/openapi.json`)).json();
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'openapi');
    const isEvent = ajv.getSchema('openapi#/components/schemas/ApprovalEvent');
    for (const { data, event } of client.events) {
      expect({ valid: isEvent?.(data), type: data.type }, JSON.stringify(isEvent?.errors)).toEqual({
        valid: true,
        type: event,
      });
    }
  });

  test('rejected; cancelled', async () => {
    const client = await listen(ours.finance.token);
    const agent = await ours.make(newName('a'), ['agent']);
    const rejected = await ask(agent.client);
    await ours.finance.client.post(`/v1/approvals/${rejected}/reject`, { reason: 'no' });
    const cancelled = await ask(ours.agent.client);
    await ours.agent.client.post(`/v1/approvals/${cancelled}/cancel`);
    expect(await tells(cancelled, 2, client)).toEqual(['requested', 'cancelled']);
    expect(await tells(rejected, 3, client)).toEqual(['requested', 'voted', 'decided']);
    const decided = client.events.filter(({ data }) => data.approval_id === rejected).at(-1);
    expect(decided?.data).toMatchObject({ status: 'rejected', decision_reason: 'no' });
  });

  test('edited, and then voted on under its new version and hash', async () => {
    const client = await listen(ours.finance.token);
    const id = await ask(ours.agent.client);
    const tool_call = await editedCall(ours.security.client, id, { amount: 8000 });
    const edited = await ours.security.client.post(`/v1/approvals/${id}/edit`, { tool_call });
    const { action_hash } = edited.body;
    await ours.finance.client.post(`/v1/approvals/${id}/approve`, { action_hash });
    expect(await tells(id, 4, client)).toEqual(['requested', 'edited', 'voted', 'decided']);
    expect(client.events.map(({ data }) => data.version)).toEqual([1, 2, 2, 2]);
    expect(client.events[0]?.data.action_hash).not.toBe(action_hash);
    expect(client.events.slice(1).map(({ data }) => data.action_hash)).toEqual([
      action_hash,
      action_hash,
      action_hash,
    ]);
  });

  test('voted by one and by another, and decided with the second', async () => {
    const client = await listen(ours.finance.token);
    const id = await ask(ours.agent.client, refund(200_000));
    await ours.finance.client.post(`/v1/approvals/${id}/approve`);
    await ours.finance.client.post(`/v1/approvals/${id}/approve`);
    await ours.security.client.post(`/v1/approvals/${id}/approve`);
    expect(await tells(id, 4, client)).toEqual(['requested', 'voted', 'voted', 'decided']);
    expect(client.events.map(({ data }) => data.status)).toEqual([
      'pending',
      'pending',
      'pending',
      'approved',
    ]);
    expect(client.events[0]?.data).toMatchObject({
      votes_required: 2,
      groups_required: ['finance', 'security'],
    });
  });

  test("voted once more, and decided, by a no in place of the voter's own yes", async () => {
    const client = await listen(ours.finance.token);
    const id = await ask(ours.agent.client, refund(200_000));
    await ours.finance.client.post(`/v1/approvals/${id}/approve`);
    await ours.finance.client.post(`/v1/approvals/${id}/reject`);
    expect(await tells(id, 4, client)).toEqual(['requested', 'voted', 'voted', 'decided']);
    expect(client.events.at(-1)?.data).toMatchObject({ status: 'rejected', version: 1 });
  });

  test('voided by a freeze, and by a key whose vote it rested on; voted when a pending one loses a vote', async () => {
    const client = await listen(ours.finance.token);
    const agent = await ours.make(newName('a'), ['agent']);
    const voter = await ours.make(newName('v'), ['approver'], { groups: ['finance'] });
    const approved = await askApproved(ours.agent.client, voter.client);
    const partial = await ask(ours.agent.client, refund(200_000));
    await voter.client.post(`/v1/approvals/${partial}/approve`);
    const frozen = await ask(agent.client);
    await ours.operator.delete(`/v1/keys/${voter.keyId}`);
    await ours.operator.post(`/v1/agents/${agent.principal}/freeze`);
    expect(await tells(frozen, 2, client)).toEqual(['requested', 'voided']);
    expect(await tells(approved, 4, client)).toEqual(['requested', 'voted', 'decided', 'voided']);
    expect(await tells(partial, 3, client)).toEqual(['requested', 'voted', 'voted']);
    const last = (id: string) => client.events.filter(({ data }) => data.approval_id === id).at(-1)?.data;
    expect(last(frozen)).toMatchObject({ status: 'voided', void_reason: 'agent_frozen' });
    expect(last(approved)).toMatchObject({ status: 'voided', void_reason: 'key_revoked' });
    expect(last(partial)).toMatchObject({ status: 'pending', version: 2 });
  });

  test('expiring at four fifths of the life of a pending one, and expired when its time has passed', async () => {
    const client = await listen(ours.finance.token);
    const [pending, young] = [await ask(ours.agent.client), await ask(ours.agent.client)];
    const approved = await askApproved(ours.agent.client, ours.finance.client);
    // Not so close that it is told to be expiring while this file still runs.
    await ageTo(young, 700);
    await ageTo(approved, 990);
    await ageTo(pending, 801);
    expect(await tells(pending, 2, client)).toEqual(['requested', 'expiring']);
    expect(client.events.at(-1)?.data).toMatchObject({ status: 'pending', type: 'approval.expiring' });
    for (const id of [pending, approved]) await expire(service, id);
    expect(await tells(pending, 3, client)).toEqual(['requested', 'expiring', 'expired']);
    expect(await tells(approved, 4, client)).toEqual(['requested', 'voted', 'decided', 'expired']);
    expect(client.events.at(-1)?.data.status).toBe('expired');
    expect(tellsOf(client.events, young)).toEqual(['requested']);
  });
});

describe('who hears what', () => {
  test('an agent of its own approvals alone; approver, operator and auditor of all', async () => {
    const other = await ours.make(newName('a'), ['agent']);
    const auditor = await ours.make(newName('u'), ['auditor']);
    const [agent, second, ...all] = await Promise.all(
      [ours.agent.token, other.token, auditor.token, ours.operatorToken, ours.finance.token].map((token) =>
        listen(token),
      ),
    );
    const theirs = await ask(other.client);
    const own = await ask(ours.agent.client);
    await ours.agent.client.post(`/v1/approvals/${own}/cancel`);
    await Promise.all(all.map((client) => client.heard(3)));
    await agent?.heard(2);
    await second?.heard(1);
    expect(all.map(({ events }) => tellsOf(events))).toEqual(
      all.map(() => ['requested', 'requested', 'cancelled']),
    );
    expect(agent?.events.map(({ data }) => data.approval_id)).toEqual([own, own]);
    expect(second?.events.map(({ data }) => data.approval_id)).toEqual([theirs]);

    const resumed = await listen(ours.agent.token, '0-0');
    await expect.poll(() => tellsOf(resumed.events, own)).toEqual(['requested', 'cancelled']);
    expect(new Set(resumed.events.map(({ data }) => data.agent))).toEqual(new Set(['agent-1']));
  });

  test('nobody of another tenant, whatever place they name', async () => {
    const theirs = await newTenant();
    const mine = await listen(ours.finance.token);
    const id = await ask(ours.agent.client);
    await mine.heard(1);
    const [fresh, resumed] = [await listen(theirs.finance.token), await listen(theirs.finance.token, '0-0')];
    const theirId = await ask(theirs.agent.client);
    for (const client of [fresh, resumed]) {
      await client.heard(1);
      expect(client.text()).not.toContain(id);
      expect(client.events.map(({ data }) => data.approval_id)).toEqual([theirId]);
    }
  });

  test('a secret in the resource is masked, even for the agent that sent it', async () => {
    const SECRET = 'sk_live_51H8dT3KZvJr0PzYQbW7mN2c';
    const [approver, agent] = [await listen(ours.finance.token), await listen(ours.agent.token)];
    const call = { ...refund(9000), resource: `https://pay.example/charges?api_key=${SECRET}` };
    expect((await authorize(ours.agent.client, call)).body.decision).toBe('require_approval');
    for (const client of [approver, agent]) {
      await client.heard(1);
      expect(client.text()).not.toContain(SECRET);
      expect(client.events[0]?.data.resource).toMatch(
        /^https:\/\/pay\.example\/charges\?api_key=\(secret [0-9a-f]{8}\)$/,
      );
    }
  });
});

describe('a client that comes back', () => {
  test('with the last id hears what followed it, each once, and nothing before', async () => {
    const first = await listen(ours.finance.token);
    const ids = [await ask(ours.agent.client), await ask(ours.agent.client)];
    await first.heard(2);
    first.close();
    ids.push(await ask(ours.agent.client), await ask(ours.agent.client));
    const again = await listen(ours.finance.token, first.events[0]?.id);
    ids.push(await ask(ours.agent.client));
    await again.heard(4);
    expect(again.events.map(({ data }) => data.approval_id)).toEqual(ids.slice(1));
  });

  test('before it heard any event misses none either: the opening has an id', async () => {
    const first = await listen(ours.finance.token);
    first.close();
    const id = await ask(ours.agent.client);
    const again = await listen(ours.finance.token, first.lastId());
    await again.heard(1);
    expect(again.events.map(({ data }) => data.approval_id)).toEqual([id]);
  });

  test('with a place that is yet to come, as of a database that was put back, hears what is new', async () => {
    const client = await listen(ours.finance.token, '9000000000000000-7');
    const id = await ask(ours.agent.client);
    await client.heard(1);
    expect(client.events[0]?.data.approval_id).toBe(id);
  });

  test('with an empty id, as one that knows none, hears what is new', async () => {
    const client = await listen(ours.finance.token, '');
    const id = await ask(ours.agent.client);
    await client.heard(1);
    expect(client.events[0]?.data.approval_id).toBe(id);
  });
});
