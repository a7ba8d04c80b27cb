import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { type HeldRow, holdApprovals, holdRow, untilBlocked, uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Freezing and disabling take the keys first: who waits for them is refused, and no new key escapes.

let service: TestService;
let held: HeldRow | undefined;

beforeAll(async () => {
  service = await startTestService();
});
afterEach(async () => {
  await held?.release();
});
afterAll(() => service.close());

const codes = (answers: ApiAnswer[]): string[] =>
  answers.map(({ status, body }) => `${status} ${body?.code}`);

const freeze = (agent: string): Promise<ApiAnswer> => service.operator.post(`/v1/agents/${agent}/freeze`);
const put = (principal: string, body: object): Promise<ApiAnswer> =>
  service.operator.call('PUT', `/v1/principals/${principal}`, body);

async function statusOf(id: string): Promise<string> {
  const [row] = await service.sql`select status from approvals where approval_id = ${uuidOf(id)}`;
  return row?.status;
}

describe('while an agent is being frozen', () => {
  test('an ask, a cancel and a consume of it that wait are refused', async () => {
    const { token } = await makeKey(service.operator, { principal: 'agent-w', roles: ['agent'] });
    const agent = service.as(token);
    const [blocking, approved, pending] = [
      await ask(agent),
      await askApproved(agent, service.approver),
      await ask(agent),
    ];
    held = await holdApprovals(service.sql, blocking, approved);
    const freezing = freeze('agent-w');
    await untilBlocked(service.sql, 1);
    const calls = [
      authorize(agent, refund(9000)),
      agent.post(`/v1/approvals/${pending}/cancel`),
      agent.post(`/v1/approvals/${approved}/consume`),
    ];
    await untilBlocked(service.sql, 1 + calls.length);
    await held.release();
    expect((await freezing).status).toBe(204);
    expect(codes(await Promise.all(calls))).toStrictEqual(calls.map(() => '403 agent_frozen'));
    for (const id of [blocking, approved, pending]) expect(await statusOf(id)).toBe('voided');
  });

  test('keys made meanwhile are frozen like the others, however many', async () => {
    const principal = 'agent-k';
    await makeKey(service.operator, { principal, roles: ['agent'] });
    const makers = Array.from({ length: 12 }, () =>
      makeKey(service.operator, { principal, roles: ['agent'] }),
    );
    expect((await freeze(principal)).status).toBe(204);
    const made = await Promise.all(makers);
    const answers = await Promise.all(made.map(({ token }) => authorize(service.as(token), refund(1))));
    expect(codes(answers)).toStrictEqual(made.map(() => '403 agent_frozen'));
  });

  test('a key that was being written under the principal’s row is frozen with the others', async () => {
    const principal = 'agent-m';
    await makeKey(service.operator, { principal, roles: ['agent'] });
    held = await holdRow(
      service.sql,
      (session) => session`
        select from principals where principal = ${principal} for no key update`,
    );
    const freezing = freeze(principal);
    await untilBlocked(service.sql, 1);
    const keyId = '01890a5d-ac96-774b-bcce-b302099a8057';
    await held.session`insert into keys (key_id, token_hash, tenant_id, principal, roles, origin,
      source_trust_ceiling, unattended, skill)
      values (${keyId}, 'h', 'default', ${principal}, '{agent}', 'api', 'trusted_internal', false, false)`;
    await held.release();
    expect((await freezing).status).toBe(204);
    const rows = await service.sql`
      select frozen_at is not null as frozen from keys where principal = ${principal}`;
    expect(rows.map(({ frozen }) => frozen)).toStrictEqual([true, true]);
  });

  test('it is frozen by each of many who freeze it at once', async () => {
    const { token } = await makeKey(service.operator, { principal: 'agent-f', roles: ['agent'] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => freeze('agent-f')));
    expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 204));
    expect(codes([await service.as(token).get('/v1/me')])).toStrictEqual(['403 agent_frozen']);
  });
});

describe('while an approver is being disabled', () => {
  test('a vote of theirs that waits is refused, and none of their votes counts', async () => {
    const { token } = await makeKey(service.operator, {
      principal: 'approver-w',
      roles: ['approver'],
      groups: ['finance'],
    });
    const approver = service.as(token);
    const [voted, other] = [await ask(service.agent, refund(200_000)), await ask(service.agent)];
    await approver.post(`/v1/approvals/${voted}/approve`);
    held = await holdApprovals(service.sql, voted);
    const disabling = put('approver-w', { groups: ['finance'], disabled: true });
    await untilBlocked(service.sql, 1);
    const voting = approver.post(`/v1/approvals/${other}/approve`);
    await untilBlocked(service.sql, 2);
    await held.release();
    expect((await disabling).status).toBe(200);
    expect(codes([await voting])).toStrictEqual(['401 unauthenticated']);
    expect((await service.agent.get(`/v1/approvals/${voted}`)).body).toMatchObject({ version: 2, votes: [] });
    expect(await statusOf(other)).toBe('pending');
  });

  test('two operators cannot disable each other: one stays', async () => {
    const { token } = await makeKey(service.operator, { principal: 'operator-b', roles: ['operator'] });
    const disabled = { groups: [], disabled: true };
    const answers = await Promise.all([
      put('operator-b', disabled),
      service.as(token).call('PUT', '/v1/principals/operator-1', disabled),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const standing = [service.operator, service.as(token)].map((client) => client.get('/v1/me'));
    const statuses = (await Promise.all(standing)).map(({ status }) => status);
    expect(statuses.toSorted()).toStrictEqual([200, 401]);
    await service.sql`update keys set disabled_at = null`;
    await service.sql`update principals set disabled_at = null`;
  });
});

describe('what cannot be written whole is not written', () => {
  const failOn = (event: string, table: string): Promise<unknown> =>
    service.sql.unsafe(
      `create trigger refused before ${event} on ${table} for each row execute function refuse_row()`,
    );

  beforeAll(() =>
    service.sql.unsafe(`
      create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`),
  );
  afterEach(() =>
    service.sql.unsafe(
      ['approvals', 'votes', 'keys'].map((table) => `drop trigger if exists refused on ${table}`).join(';'),
    ),
  );

  test('a freeze whose approvals cannot be voided freezes nobody', async () => {
    const { token } = await makeKey(service.operator, { principal: 'agent-t', roles: ['agent'] });
    const id = await askApproved(service.as(token), service.approver);
    await failOn('update', 'approvals');
    expect(await freeze('agent-t')).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    await service.sql`drop trigger refused on approvals`;
    expect((await service.as(token).post(`/v1/approvals/${id}/consume`)).status).toBe(200);
  });

  test('a principal whose votes cannot be dropped is not disabled', async () => {
    const { token } = await makeKey(service.operator, { principal: 'approver-t', roles: ['approver'] });
    const id = await askApproved(service.agent, service.as(token));
    await failOn('update', 'votes');
    expect((await put('approver-t', { groups: [], disabled: true })).status).toBe(500);
    expect((await service.as(token).get('/v1/me')).status).toBe(200);
    expect(await statusOf(id)).toBe('approved');
  });
});
