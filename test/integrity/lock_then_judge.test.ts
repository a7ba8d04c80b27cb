import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { type HeldRow, holdApprovals, untilBlocked, untilExpired, uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Every arrow of the approval's life locks, then judges: what happened while it waited for the lock counts.

/** Longer than the calls need to reach the lock, shorter than a lock is waited for. */
const LIFE_LEFT_SECONDS = 1.5;

let service: TestService;
let held: HeldRow | undefined;

beforeAll(async () => {
  service = await startTestService();
});
afterEach(() => held?.release());
afterAll(() => service.close());

async function hold(...approvalIds: string[]): Promise<HeldRow> {
  held = await holdApprovals(service.sql, ...approvalIds);
  return held;
}

const agentCalls = (id: string, call: string): Promise<ApiAnswer> =>
  service.agent.post(`/v1/approvals/${id}/${call}`);
const approverCalls = (id: string, call: string, body?: object): Promise<ApiAnswer> =>
  service.approver.post(`/v1/approvals/${id}/${call}`, body);

/** Sends one call of each kind, each to an approval of its own; the last four are to pending ones. */
async function callAll(ids: readonly string[], edited: object): Promise<() => Promise<ApiAnswer[]>> {
  const [approved, toApprove, toReject, toEdit, toCancel] = ids as [string, string, string, string, string];
  const calls = [
    agentCalls(approved, 'consume'),
    approverCalls(toApprove, 'approve'),
    approverCalls(toReject, 'reject'),
    approverCalls(toEdit, 'edit', { tool_call: edited }),
    agentCalls(toCancel, 'cancel'),
  ];
  await untilBlocked(service.sql, calls.length);
  return () => Promise.all(calls);
}

async function makeOneForEachCall(): Promise<{ ids: string[]; edited: object }> {
  const toEdit = refund(9000);
  const ids = [await askApproved(service.agent, service.approver)];
  for (const toolCall of [refund(9000), refund(9000), toEdit, refund(9000)]) {
    ids.push(await ask(service.agent, toolCall));
  }
  return { ids, edited: { ...toEdit, parameters: { amount: 8000, currency: 'usd' } } };
}

async function readRows(ids: string[]): Promise<object[]> {
  const rows = await service.sql`
    select status, version, (select count(*)::int from votes v where v.approval_id = a.approval_id) as votes
    from approvals a where approval_id = any(${ids.map(uuidOf)}::uuid[]) order by approval_id`;
  return rows.map((row) => ({ ...row }));
}

const UNTOUCHED = [
  { status: 'approved', version: 1, votes: 1 },
  ...[1, 2, 3, 4].map(() => ({ status: 'pending', version: 1, votes: 0 })),
];

const codes = (answers: ApiAnswer[]): string[] => answers.map(({ status, body }) => `${status} ${body.code}`);

test('whoever waits for the row past its expiry is refused: consume, approve, reject, edit and cancel', async () => {
  const { ids, edited } = await makeOneForEachCall();
  await service.sql`
    update approvals set expires_at = clock_timestamp() + make_interval(secs => ${LIFE_LEFT_SECONDS})
    where approval_id = any(${ids.map(uuidOf)}::uuid[])`;
  const { release } = await hold(...ids);
  const answers = await callAll(ids, edited);
  for (const id of ids) await untilExpired(service.sql, id);
  await release();
  expect(codes(await answers())).toStrictEqual(ids.map(() => '410 approval_expired'));
  expect(await readRows(ids)).toStrictEqual(UNTOUCHED);
});

test('a row held longer than a lock is waited for is 503 with `Retry-After`, and nothing has changed', async () => {
  const { ids, edited } = await makeOneForEachCall();
  const { release } = await hold(...ids);
  const answers = await (await callAll(ids, edited))();
  expect(codes(answers)).toStrictEqual(ids.map(() => '503 unavailable'));
  expect(answers.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true);
  await release();
  expect(await readRows(ids)).toStrictEqual(UNTOUCHED);
  expect((await agentCalls(ids[0] as string, 'consume')).status).toBe(200);
});

describe('whoever waits while the key is revoked is refused', () => {
  test('a consume, though the approval was approved all along', async () => {
    const { token, id: keyId } = await makeKey(service.operator, { principal: 'agent-r', roles: ['agent'] });
    const agent = service.as(token);
    const id = await askApproved(agent, service.approver);
    const { release } = await hold(id);
    const revoking = service.operator.delete(`/v1/keys/${keyId}`);
    await untilBlocked(service.sql, 1);
    const consuming = agent.post(`/v1/approvals/${id}/consume`);
    await untilBlocked(service.sql, 2);
    await release();
    expect((await revoking).status).toBe(204);
    expect((await consuming).body.code).toBe('unauthenticated');
    expect(await readRows([id])).toStrictEqual([{ status: 'voided', version: 1, votes: 1 }]);
  });

  test('a vote, an edit, a cancel and an ask of the key', async () => {
    const principal = 'both-r';
    const { token, id: keyId } = await makeKey(service.operator, {
      principal,
      roles: ['agent', 'approver'],
      groups: ['finance'],
    });
    const both = service.as(token);
    const resting = await ask(service.agent, refund(200_000));
    await both.post(`/v1/approvals/${resting}/approve`);
    const toEdit = refund(9000);
    const [toVote, edited, own] = [
      await ask(service.agent),
      await ask(service.agent, toEdit),
      await ask(both),
    ];
    const { release } = await hold(resting);
    const revoking = service.operator.delete(`/v1/keys/${keyId}`);
    await untilBlocked(service.sql, 1);
    const calls = [
      both.post(`/v1/approvals/${toVote}/approve`),
      both.post(`/v1/approvals/${edited}/edit`, {
        tool_call: { ...toEdit, parameters: { amount: 1, currency: 'usd' } },
      }),
      both.post(`/v1/approvals/${own}/cancel`),
      authorize(both, refund(9000)),
    ];
    await untilBlocked(service.sql, 1 + calls.length);
    await release();
    expect((await revoking).status).toBe(204);
    expect(codes(await Promise.all(calls))).toStrictEqual(calls.map(() => '401 unauthenticated'));
    expect(await readRows([resting, toVote, edited, own])).toStrictEqual([
      { status: 'pending', version: 2, votes: 1 },
      { status: 'pending', version: 1, votes: 0 },
      { status: 'pending', version: 1, votes: 0 },
      { status: 'voided', version: 1, votes: 0 },
    ]);
  });
});

describe('the active revision', () => {
  const OTHER = 'f'.repeat(64);
  let own: string;

  beforeAll(async () => {
    const [tenant] = await service.sql<{ active_revision: string }[]>`select active_revision from tenants`;
    own = tenant?.active_revision ?? '';
  });
  afterEach(() => service.sql`update tenants set active_revision = ${own}`);

  test('does not move past a consume that waits', async () => {
    const id = await askApproved(service.agent, service.approver);
    const { release } = await hold(id);
    const consuming = agentCalls(id, 'consume');
    await untilBlocked(service.sql, 1);
    const activation = service.sql.begin(async (sql) => {
      await sql`set local lock_timeout = 50`;
      await sql`update tenants set active_revision = ${OTHER}`;
    });
    await expect(activation).rejects.toMatchObject({ code: '55P03' });
    await release();
    expect((await consuming).status).toBe(200);
  });

  test('that moved while a consume waited refuses it, and the approval stays', async () => {
    const id = await askApproved(service.agent, service.approver);
    const { release, session } = await hold(id);
    await session`update tenants set active_revision = ${OTHER}`;
    const consuming = agentCalls(id, 'consume');
    await untilBlocked(service.sql, 1);
    await release();
    expect((await consuming).body.code).toBe('unavailable');
    expect(await readRows([id])).toMatchObject([{ status: 'approved' }]);
  });
});
