import { afterAll, describe, expect, test } from 'vitest';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import {
  type Actor,
  expectOk,
  expectProblem,
  expire,
  newActor,
  newAgent,
  ROOMY,
  readApproval,
  UNKNOWN_APPROVAL,
  withoutRequestId,
} from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

async function listIds(client: ApiClient, query: string): Promise<string[]> {
  const answer = await client.get(`/v1/approvals?${query}`);
  expectOk(answer, { next_cursor: null });
  return answer.body.items.map((item: { approval_id: string }) => item.approval_id);
}

const fileWrite = () => ({
  tool: 'Files',
  action: 'write',
  resource: null,
  mutates_state: true,
  parameters: { path: 'a', content: '' },
});

describe('filters', () => {
  let agent: Actor;
  const ids: Record<string, string> = {};

  test('an approval of each status is arranged', async () => {
    agent = await newAgent(service);
    const act = (id: string, call: string, by: ApiClient = agent.client) =>
      by.post(`/v1/approvals/${id}/${call}`);
    ids.pending = await ask(agent.client);
    ids.approved = await askApproved(agent.client, service.approver);
    ids.rejected = await ask(agent.client);
    expectOk(await act(ids.rejected, 'reject', service.approver));
    ids.cancelled = await ask(agent.client);
    expectOk(await act(ids.cancelled, 'cancel'));
    ids.expired = await ask(agent.client);
    ids.expiredApproved = await askApproved(agent.client, service.approver);
    await expire(service, ids.expired);
    await expire(service, ids.expiredApproved);
    ids.consumed = await askApproved(agent.client, service.approver);
    expectOk(await act(ids.consumed, 'consume'));
    ids.reported = await askApproved(agent.client, service.approver, fileWrite());
    expectOk(await act(ids.reported, 'consume'));
    expectOk(await agent.client.post(`/v1/approvals/${ids.reported}/outcome`, { outcome: 'executed' }));
    expect(Object.keys(ids)).toHaveLength(8);
  });

  test.each([
    ['pending', ['pending']],
    ['approved', ['approved']],
    ['rejected', ['rejected']],
    ['cancelled', ['cancelled']],
    ['expired', ['expiredApproved', 'expired']],
    ['consumed', ['reported', 'consumed']],
    ['voided', []],
  ])('status=%s, as the status reads now', async (status, names) => {
    const expected = names.map((name) => ids[name]);
    expect(await listIds(agent.client, `status=${status}`)).toEqual(expected);
    expect(await listIds(service.approver, `status=${status}&agent=${agent.principal}`)).toEqual(expected);
  });

  test('outcome=missing: consumed and not reported', async () => {
    expect(await listIds(agent.client, 'outcome=missing')).toEqual([ids.consumed]);
    expect(await listIds(agent.client, 'outcome=missing&status=pending')).toEqual([]);
  });

  test('tool: the resolved one', async () => {
    expect(await listIds(agent.client, 'tool=files')).toEqual([ids.reported]);
    expect(await listIds(agent.client, 'tool=stripe&status=consumed')).toEqual([ids.consumed]);
    expect(await listIds(agent.client, 'tool=nothing')).toEqual([]);
  });

  test('agent, in any case; all of it newest first', async () => {
    const all = await listIds(service.operator, `agent=${agent.principal.toUpperCase()}`);
    expect(all).toEqual([...all].sort().reverse());
    expect(all).toHaveLength(8);
    expect(await listIds(service.operator, 'agent=nobody')).toEqual([]);
  });

  test('an item is the approval as it is read alone', async () => {
    const { body } = await service.approver.get(`/v1/approvals?agent=${agent.principal}&status=pending`);
    expect(body.items).toEqual([await readApproval(service.approver, ids.pending as string)]);
  });

  test.each([
    'status=denied',
    'status=',
    'status=pending&status=approved',
    'outcome=executed',
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=many',
    'agent=a%20b',
    'agent=',
    'order=asc',
    'cursor=',
    'cursor=junk',
    `cursor=${UNKNOWN_APPROVAL.toUpperCase()}`,
    `cursor=${'x'.repeat(200)}`,
  ])('%s is 422', async (query) => {
    expectProblem(await service.approver.get(`/v1/approvals?${query}`), 422, 'invalid_request');
  });
});

describe('paging', () => {
  test('no page loses or repeats one, though newer ones are asked for meanwhile', async () => {
    const agent = await newAgent(service);
    const asked: string[] = [];
    for (let count = 0; count < 7; count += 1) asked.unshift(await ask(agent.client));
    const seen: string[] = [];
    let cursor: string | null = null;
    const sizes: number[] = [];
    do {
      const next: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await service.approver.get(`/v1/approvals?agent=${agent.principal}&limit=3${next}`);
      seen.push(...body.items.map((item: { approval_id: string }) => item.approval_id));
      sizes.push(body.items.length);
      cursor = body.next_cursor;
      await ask(agent.client);
    } while (cursor !== null);
    expect(seen).toEqual(asked);
    expect(sizes).toEqual([3, 3, 1]);
  });

  test('a last page that is full says so', async () => {
    const agent = await newAgent(service);
    for (let count = 0; count < 2; count += 1) await ask(agent.client);
    expectOk(await agent.client.get('/v1/approvals?limit=2'), { next_cursor: null });
  });

  test('the filter holds on every page: no page hides a pending one behind others', async () => {
    const agent = await newAgent(service);
    const pending = [await ask(agent.client)];
    for (let count = 0; count < 3; count += 1) {
      await agent.client.post(`/v1/approvals/${await ask(agent.client)}/cancel`);
    }
    pending.unshift(await ask(agent.client));
    const first = await agent.client.get('/v1/approvals?status=pending&limit=1');
    expect(first.body.items[0].approval_id).toBe(pending[0]);
    const second = await agent.client.get(
      `/v1/approvals?status=pending&limit=1&cursor=${first.body.next_cursor}`,
    );
    expect(second.body.items[0].approval_id).toBe(pending[1]);
    expect(second.body.next_cursor).toBe(null);
  });

  test('without a limit a page has 50', async () => {
    const agent = await newAgent(service);
    await Promise.all(Array.from({ length: 51 }, () => ask(agent.client)));
    const { body } = await agent.client.get('/v1/approvals');
    expect(body.items).toHaveLength(50);
    expect(body.next_cursor).not.toBe(null);
    expect((await agent.client.get('/v1/approvals?limit=200')).body.items).toHaveLength(51);
  });
});

describe('who sees what', () => {
  test('an agent sees its own only, whatever it filters by', async () => {
    const [one, other] = [await newAgent(service), await newAgent(service)];
    const id = await ask(one.client);
    await ask(other.client);
    expect(await listIds(one.client, '')).toEqual([id]);
    expect(await listIds(one.client, `agent=${other.principal}`)).toEqual([]);
    expect(await listIds(one.client, `agent=${one.principal}`)).toEqual([id]);
  });

  test.each(['approver', 'operator', 'auditor'])('%s sees those of every agent', async (role) => {
    const agent = await newAgent(service);
    const id = await ask(agent.client, refund(9000));
    const reader = await newActor(service, [role]);
    expect(await listIds(reader.client, `agent=${agent.principal}`)).toEqual([id]);
    expect((await readApproval(reader.client, id)).approval_id).toBe(id);
  });

  test('what is missing, unreadable, or no id at all is one and the same 404 but for request_id', async () => {
    const foreign = await ask(service.agent);
    const { client } = await newAgent(service);
    const ids = [
      UNKNOWN_APPROVAL,
      foreign,
      UNKNOWN_APPROVAL.toUpperCase(),
      'apr_1',
      'x',
      foreign.slice(4),
      '%00',
      '%2e%2e',
    ];
    const answers = await Promise.all(
      ids.flatMap((id) => [
        client.get(`/v1/approvals/${id}`),
        client.get(`/v1/approvals/${id}?wait=5`),
        client.post(`/v1/approvals/${id}/cancel`),
        client.post(`/v1/approvals/${id}/consume`),
        client.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' }),
      ]),
    );
    for (const answer of answers) {
      expectProblem(answer, 404, 'not_found');
      expect(answer.text).not.toContain(foreign.slice(4));
    }
    expect(new Set(answers.map(withoutRequestId)).size).toBe(1);
    const headersOf = (headers: Headers) => [...headers.keys()].sort().join();
    expect(new Set(answers.map((answer) => headersOf(answer.headers))).size).toBe(1);
  });
});
