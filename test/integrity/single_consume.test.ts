import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { askApproved, refund } from '../support/calls.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// SINGLE CONSUME

// Starting four processes takes two seconds, and many on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: { AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000' } });
});
afterAll(() => service.close());

const newToken = (): string => randomUUID();

/** Sends all calls at once. */
function race(count: number, call: (index: number) => Promise<ApiAnswer>): Promise<ApiAnswer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

const consume = (client: ApiClient, id: string, body: object = {}): Promise<ApiAnswer> =>
  client.post(`/v1/approvals/${id}/consume`, body);

/** How many answers had each status and code. */
function tally(answers: ApiAnswer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const name = status === 200 ? `200 replayed:${body.replayed}` : `${status} ${body.code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function readConsumed(id: string): Promise<{ status: string; consumed_at: string }> {
  const { body } = await service.approver.get(`/v1/approvals/${id}`);
  return body;
}

describe('over four processes on one database', () => {
  const folder = makeFolder();
  let processes: ServiceProcess[];

  beforeAll(async () => {
    processes = await Promise.all(
      [1, 2, 3, 4].map((number) =>
        startServiceProcess({
          DATABASE_URL: service.databaseUrl,
          AEGIS_DATA_DIR: `${folder.path}/${number}`,
          AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000',
        }),
      ),
    );
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.end('SIGKILL')));
    folder.remove();
  });

  const client = (index: number): ApiClient =>
    (processes[index % processes.length] as ServiceProcess).as(service.tokens.AGENT);

  test('of 200 concurrent consumes exactly one wins and every other is told why', async () => {
    const id = await askApproved(service.agent, service.approver);
    const answers = await race(200, (index) => consume(client(index), id, { consumer_token: newToken() }));
    expect(tally(answers)).toStrictEqual({
      '200 replayed:false': 1,
      '409 approval_already_consumed': 199,
    });
    const winner = answers.find((answer) => answer.status === 200);
    expect((await readConsumed(id)).consumed_at).toBe(winner?.body.consumed_at);
  });

  test('a race of right and wrong hashes is won by a right one', async () => {
    const toolCall = refund(9000);
    const id = await askApproved(service.agent, service.approver, toolCall);
    const { body } = await service.approver.get(`/v1/approvals/${id}`);
    const wrong = 'f'.repeat(64);
    const answers = await race(40, (index) =>
      consume(client(index), id, { action_hash: index % 2 === 0 ? wrong : body.action_hash }),
    );
    const counts = tally(answers);
    expect(counts['200 replayed:false']).toBe(1);
    const wrongOnes = tally(answers.filter((_, index) => index % 2 === 0));
    expect(Object.keys(wrongOnes).every((name) => name.startsWith('409 '))).toBe(true);
  });
});

test('of 64 concurrent consumes within one process exactly one wins', async () => {
  const id = await askApproved(service.agent, service.approver);
  const answers = await race(64, () => consume(service.agent, id));
  expect(tally(answers)).toStrictEqual({ '200 replayed:false': 1, '409 approval_already_consumed': 63 });
});

test('concurrent consumes of many approvals each have one winner', async () => {
  const ids = await Promise.all(
    Array.from({ length: 8 }, () => askApproved(service.agent, service.approver)),
  );
  const answers = await race(64, (index) => consume(service.agent, ids[index % ids.length] as string));
  expect(tally(answers)).toStrictEqual({ '200 replayed:false': 8, '409 approval_already_consumed': 56 });
  const won = answers.filter(({ status }) => status === 200).map(({ body }) => body.approval_id);
  expect(won.toSorted()).toStrictEqual(ids.toSorted());
});

test('a wrong hash alone never spends, however many try at once', async () => {
  const id = await askApproved(service.agent, service.approver);
  const answers = await race(32, () => consume(service.agent, id, { action_hash: '0'.repeat(64) }));
  expect(tally(answers)).toStrictEqual({ '409 action_hash_mismatch': 32 });
  expect((await readConsumed(id)).status).toBe('approved');
});

test('a wrong binding never spends, and the right one still does', async () => {
  const toolCall = refund(9000);
  const asked = await service.agent.post('/v1/authorize', {
    tool_call: toolCall,
    context: { source_trust: 'trusted_internal', workspace: 'repo:a', session_id: 's-1' },
  });
  const id = asked.body.approval.approval_id;
  await service.approver.post(`/v1/approvals/${id}/approve`);
  const wrong = await race(9, (index) =>
    consume(service.agent, id, {
      binding: [{ workspace: 'repo:b' }, { session_id: 's-2' }, { environment: 'production' }][index % 3],
    }),
  );
  expect(tally(wrong)).toStrictEqual({ '409 binding_mismatch': 9 });
  const right = await consume(service.agent, id, {
    binding: { workspace: 'repo:a', session_id: 's-1', environment: null },
  });
  expect(right.status).toBe(200);
});

test("of 20 concurrent consumes with one token one runs, and the others get the winner's answer", async () => {
  const id = await askApproved(service.agent, service.approver);
  const consumer_token = newToken();
  const answers = await race(20, () => consume(service.agent, id, { consumer_token }));
  expect(tally(answers)).toStrictEqual({ '200 replayed:false': 1, '200 replayed:true': 19 });
  const essence = answers.map(({ body: { replayed: _, ...rest } }) => JSON.stringify(rest));
  expect(new Set(essence).size).toBe(1);
});

test('another token, or none, gets no replay of the winner', async () => {
  const id = await askApproved(service.agent, service.approver);
  const token = newToken();
  const answers = [
    await consume(service.agent, id, { consumer_token: token }),
    await consume(service.agent, id, { consumer_token: newToken() }),
    await consume(service.agent, id),
    await consume(service.agent, id, { consumer_token: token }),
  ];
  expect(answers.map(({ status, body }) => [status, body.replayed])).toStrictEqual([
    [200, false],
    [409, undefined],
    [409, undefined],
    [200, true],
  ]);
});

test('a consume without a token is replayed to nobody', async () => {
  const id = await askApproved(service.agent, service.approver);
  await consume(service.agent, id);
  const answers = await race(4, (index) =>
    consume(service.agent, id, index % 2 === 0 ? {} : { consumer_token: newToken() }),
  );
  expect(tally(answers)).toStrictEqual({ '409 approval_already_consumed': 4 });
});

test('the replay ends once the outcome is reported', async () => {
  const id = await askApproved(service.agent, service.approver);
  const consumer_token = newToken();
  await consume(service.agent, id, { consumer_token });
  expect((await consume(service.agent, id, { consumer_token })).body.replayed).toBe(true);
  await service.agent.post(`/v1/approvals/${id}/outcome`, { outcome: 'executed' });
  expect((await consume(service.agent, id, { consumer_token })).body.code).toBe('approval_already_consumed');
});
