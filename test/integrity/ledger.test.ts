import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, authorize, makeKey, refund } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// A rejection and its entry in the ledger are one; of rejections written at once none is lost to a count.

let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    env: { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' },
  });
});
afterAll(() => service.close());

async function newAgent(principal: string): Promise<ApiClient> {
  return service.as((await makeKey(service.operator, { principal, roles: ['agent'] })).token);
}

async function askMany(count: number, agent: ApiClient, sessionOf: (index: number) => string | null) {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push(await ask(agent, refund(9000), { session_id: sessionOf(index) }));
  }
  return ids;
}

const rejectAll = (ids: string[]): Promise<ApiAnswer[]> =>
  Promise.all(
    ids.map((id, index) =>
      (index % 2 === 0 ? service.approver : service.approver2).post(`/v1/approvals/${id}/reject`),
    ),
  );

const readSession = async (agent: string, session: string) =>
  (await service.operator.get(`/v1/agents/${agent}/sessions/${session}`)).body;

async function isAgentPaused(agent: string): Promise<boolean> {
  const [row] = await service.sql`
    select paused_at is not null as paused from agent_pauses where agent = ${agent}`;
  return row?.paused ?? false;
}

describe('rejections at once', () => {
  test('within a session are all counted, and the third pauses it', async () => {
    const agent = await newAgent('agent-s');
    const ids = await askMany(8, agent, () => 's-1');
    expect((await rejectAll(ids.slice(0, 2))).map(({ status }) => status)).toStrictEqual([200, 200]);
    expect(await readSession('agent-s', 's-1')).toMatchObject({ rejections: 2, paused_at: null });
    await rejectAll(ids.slice(2));
    expect(await readSession('agent-s', 's-1')).toMatchObject({
      rejections: 8,
      paused_at: expect.any(String),
    });
  });

  test('of one approval count once', async () => {
    const agent = await newAgent('agent-o');
    const [id] = (await askMany(1, agent, () => 's-1')) as [string];
    const answers = await rejectAll(Array.from({ length: 10 }, () => id));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await readSession('agent-o', 's-1')).toMatchObject({ rejections: 1 });
    const [row] = await service.sql`select count(*)::int from denials where agent = 'agent-o'`;
    expect(row?.count).toBe(1);
  });

  test('of twenty-five asks pause the agent, of twenty-four they do not', async () => {
    const agents = { 'agent-24': 24, 'agent-25': 25 };
    for (const [principal, count] of Object.entries(agents)) {
      const ids = await askMany(count, await newAgent(principal), (index) => `s-${index}`);
      const answers = await rejectAll(ids);
      expect(answers.map(({ status }) => status)).toStrictEqual(ids.map(() => 200));
    }
    expect(await isAgentPaused('agent-24')).toBe(false);
    expect(await isAgentPaused('agent-25')).toBe(true);
  });

  test('of edited approvals, each of two entries, count once each', async () => {
    const agent = await newAgent('agent-e');
    const ids: string[] = [];
    for (let index = 0; index < 13; index += 1) {
      const toolCall = refund(9000);
      const id = await ask(agent, toolCall);
      const edited = { ...toolCall, parameters: { ...toolCall.parameters, amount: 8000 } };
      expect((await service.approver.post(`/v1/approvals/${id}/edit`, { tool_call: edited })).status).toBe(
        200,
      );
      ids.push(id);
    }
    await rejectAll(ids);
    const [row] = await service.sql`select count(*)::int from denials where agent = 'agent-e'`;
    expect(row?.count).toBe(26);
    expect(await isAgentPaused('agent-e')).toBe(false);
  });
});

describe('an ask at the same time as the rejection of the same action', () => {
  test('is denied, or is there before the rejection', async () => {
    const agent = await newAgent('agent-a');
    for (let time = 0; time < 10; time += 1) {
      const toolCall = refund(9000);
      const id = await ask(agent, toolCall, { session_id: 's-1' });
      const [rejected, asked] = await Promise.all([
        service.approver.post(`/v1/approvals/${id}/reject`),
        authorize(agent, toolCall, { context: { session_id: 's-1' } }),
      ]);
      expect(rejected.status).toBe(200);
      expect(['deny', 'require_approval']).toContain(asked.body.decision);
      const again = await authorize(agent, toolCall, { context: { session_id: 's-1' } });
      expect(again.body).toMatchObject({ decision: 'deny', approval: null });
      await service.operator.post('/v1/agents/agent-a/sessions/s-1/resume');
    }
  });
});

describe('a rejection whose entry cannot be written', () => {
  beforeAll(() =>
    service.sql.unsafe(`
      create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`),
  );
  const TABLES = ['denials', 'sessions', 'agent_pauses'];
  afterEach(() =>
    service.sql.unsafe(TABLES.map((table) => `drop trigger if exists refused on ${table}`).join(';')),
  );

  test.each(TABLES)('in %s is no rejection: the approval stays pending, without a vote', async (table) => {
    const principal = `agent-${table}`;
    const agent = await newAgent(principal);
    const toolCall = refund(9000);
    const id = await ask(agent, toolCall, { session_id: 's-1' });
    await service.sql.unsafe(
      `create trigger refused before insert on ${table} for each row execute function refuse_row()`,
    );
    const refused = await service.approver.post(`/v1/approvals/${id}/reject`);
    expect(refused).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    await service.sql.unsafe(`drop trigger refused on ${table}`);
    const [row] = await service.sql`
      select status, (select count(*)::int from votes v where v.approval_id = a.approval_id) as votes,
        (select count(*)::int from denials d where d.approval_id = a.approval_id) as denials
      from approvals a where approval_id = ${uuidOf(id)}`;
    expect({ ...row }).toStrictEqual({ status: 'pending', votes: 0, denials: 0 });
    expect(await readSession(principal, 's-1')).toMatchObject({ rejections: 0 });
    expect((await service.approver.post(`/v1/approvals/${id}/reject`)).status).toBe(200);
    expect(await readSession(principal, 's-1')).toMatchObject({ rejections: 1 });
  });
});
