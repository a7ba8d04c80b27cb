import { afterAll, describe, expect, test } from 'vitest';
import { ask, refund } from '../support/calls.ts';
import { createRpcOpener } from '../support/rpc_client.ts';
import { startTestService } from '../support/test_service.ts';
import { expectOk, newAgent, newApprover, ROOMY, uuidOf } from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());
const openRpc = createRpcOpener();

const finance = await newApprover(service, ['finance']);
const security = await newApprover(service, ['security']);

interface Times {
  shown_at: Date | null;
  at: Date;
}

/** When a vote's approver was shown the approval, and voted. */
async function readVoteTimes(id: string, approver: string): Promise<Times | undefined> {
  const [row] = await service.sql<Times[]>`
    select shown_at, at from votes where approval_id = ${uuidOf(id)} and approver = ${approver}`;
  return row;
}

async function listShown(id: string): Promise<string[]> {
  const rows = await service.sql<{ principal: string }[]>`
    select principal from approval_views where approval_id = ${uuidOf(id)} order by 1`;
  return rows.map((row) => row.principal);
}

/** A metric's value by its whole name with labels; 0 where it was never counted. */
async function readMetric(name: string): Promise<number> {
  const { text } = await service.anonymous.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

describe('what an approver was shown, and when', () => {
  test.each([
    ['the approval', (id: string) => `/v1/approvals/${id}`],
    ['its review', (id: string) => `/v1/approvals/${id}/review`],
  ])('who reads %s is noted, once, and it stands with the vote', async (_what, path) => {
    const id = await ask(service.agent, refund(9000));
    expectOk(await finance.client.get(path(id)));
    const first = await service.sql`select shown_at from approval_views where approval_id = ${uuidOf(id)}`;
    expectOk(await finance.client.get(path(id)));
    expectOk(await finance.client.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
    const times = await readVoteTimes(id, finance.principal);
    expect(times?.shown_at).toEqual(first[0]?.shown_at);
    expect(times?.at.getTime()).toBeGreaterThanOrEqual(times?.shown_at?.getTime() ?? Number.NaN);
  });

  test('neither a list nor the asking agent nor an operator counts as shown', async () => {
    const agent = await newAgent(service);
    const id = await ask(agent.client, refund(9000));
    expectOk(await finance.client.get('/v1/approvals?status=pending'));
    expectOk(await agent.client.get(`/v1/approvals/${id}`));
    expectOk(await service.operator.get(`/v1/approvals/${id}`));
    expect(await listShown(id)).toEqual([]);
  });

  test('who waits for it is noted when it is answered, unless it was decided meanwhile', async () => {
    const [waiting, decided] = [
      await ask(service.agent, refund(9000)),
      await ask(service.agent, refund(9000)),
    ];
    expectOk(await security.client.post(`/v1/approvals/${decided}/reject`));
    for (const id of [waiting, decided]) expectOk(await finance.client.get(`/v1/approvals/${id}?wait=1`));
    expect(await listShown(waiting)).toEqual([finance.principal]);
    expect(await listShown(decided)).toEqual([]);
  });

  test('who resolves it over RPC was not shown it by that', async () => {
    const rpc = await openRpc(service.url, service.tokens.APPROVER);
    for (const decision of ['allow_once', 'deny']) {
      const id = await ask(service.agent, refund(9000));
      await rpc.call('exec.approval.resolve', { id, decision });
      expect(await listShown(id)).toEqual([]);
      expect((await readVoteTimes(id, 'approver-1'))?.shown_at).toBeNull();
    }
  });

  test('a vote of who was never shown the approval says so', async () => {
    const id = await ask(service.agent, refund(9000));
    expectOk(await finance.client.post(`/v1/approvals/${id}/reject`), { status: 'rejected' });
    expect((await readVoteTimes(id, finance.principal))?.shown_at).toBeNull();
  });

  test('each of two approvers has their own time, and a decided approval is shown to nobody anew', async () => {
    const id = await ask(service.agent, refund(200_000));
    expectOk(await finance.client.get(`/v1/approvals/${id}`));
    expectOk(await finance.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    expectOk(await security.client.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
    expectOk(await security.client.get(`/v1/approvals/${id}`));
    expect(await listShown(id)).toEqual([finance.principal]);
    expect((await readVoteTimes(id, security.principal))?.shown_at).toBeNull();
  });
});

describe('/metrics', () => {
  test('counts what is pending as the database has it', async () => {
    const before = await readMetric('aegis_approvals_pending');
    const id = await ask(service.agent, refund(9000));
    await ask(service.agent, refund(9000));
    expect(await readMetric('aegis_approvals_pending')).toBe(before + 2);
    expectOk(await finance.client.post(`/v1/approvals/${id}/reject`));
    expect(await readMetric('aegis_approvals_pending')).toBe(before + 1);
    await service.sql`
      update approvals set created_at = created_at - interval '1 day', expires_at = clock_timestamp()
      where status = 'pending'`;
    expect(await readMetric('aegis_approvals_pending')).toBe(0);
  });

  test('counts votes and decisions once each, a repeated vote not again', async () => {
    const approvals = await readMetric('aegis_votes_total{decision="approve"}');
    const rejections = await readMetric('aegis_votes_total{decision="reject"}');
    const approved = await readMetric('aegis_asked_to_decided_seconds_count{outcome="approved"}');
    const rejected = await readMetric('aegis_asked_to_decided_seconds_count{outcome="rejected"}');
    const shown = await readMetric('aegis_shown_to_vote_seconds_count');
    const id = await ask(service.agent, refund(200_000));
    expectOk(await finance.client.get(`/v1/approvals/${id}`));
    expectOk(await finance.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    expectOk(await finance.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
    expectOk(await security.client.post(`/v1/approvals/${id}/approve`), { status: 'approved' });
    const other = await ask(service.agent, refund(9000));
    expectOk(await finance.client.post(`/v1/approvals/${other}/reject`), { status: 'rejected' });
    expect(await readMetric('aegis_votes_total{decision="approve"}')).toBe(approvals + 2);
    expect(await readMetric('aegis_votes_total{decision="reject"}')).toBe(rejections + 1);
    expect(await readMetric('aegis_asked_to_decided_seconds_count{outcome="approved"}')).toBe(approved + 1);
    expect(await readMetric('aegis_asked_to_decided_seconds_count{outcome="rejected"}')).toBe(rejected + 1);
    expect(await readMetric('aegis_shown_to_vote_seconds_count')).toBe(shown + 1);
  });
});
