import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, authorize, makeKey } from '../support/calls.ts';
import { command, listing, onMiss, putExecApprovals, readPatterns } from '../support/commands.ts';
import { holdRow, untilBlocked } from '../support/locks.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// What is added to exec approvals at once is all there, and a document is replaced only by who saw it.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });

const LIMITS = { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' };
const PATH = '/v1/exec-approvals';

let service: TestService;
let other: ServiceProcess;
const folder = makeFolder();

beforeAll(async () => {
  service = await startTestService({ env: LIMITS });
  const env = { DATABASE_URL: service.databaseUrl, AEGIS_DATA_DIR: folder.path, ...LIMITS };
  other = await startServiceProcess(env);
});
afterAll(async () => {
  await other?.end('SIGKILL');
  await service.close();
  folder.remove();
});
beforeEach(() => putExecApprovals(service.operator, onMiss()));

const toolOf = (index: number) => command(`tool${index} x`, [`/opt/bin/tool${index}`]);

/** Sends again what was not answered because a lock was not had in time: nothing of it was written. */
async function insist(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

const indices = (count: number) => Array.from({ length: count }, (_, index) => index);

test('of twenty approvals with the scope `allowlist` at once, over two processes, none is lost', async () => {
  const approvers = await Promise.all(
    indices(4).map(async (index) => {
      const { token } = await makeKey(service.operator, { principal: `racer-${index}`, roles: ['approver'] });
      return [service.as(token), other.as(token)];
    }),
  );
  const ids: string[] = [];
  for (const index of indices(20)) ids.push(await ask(service.agent, toolOf(index)));

  const answers = await Promise.all(
    ids.map((id, index) => {
      const approver = approvers[index % 4]?.[index % 2] ?? service.approver;
      return insist(() => approver.post(`/v1/approvals/${id}/approve`, { scope: 'allowlist' }));
    }),
  );

  expect(answers.map(({ body }) => body.status)).toEqual(indices(20).map(() => 'approved'));
  const expected = indices(20).map((index) => `/opt/bin/tool${index}`);
  expect(await readPatterns(service.operator, 'agent-1')).toEqual(expected.sort());
});

test('of twenty puts with the same `base_hash`, over two processes, exactly one replaces the document', async () => {
  const { body: base } = await service.operator.get(PATH);
  const operators = [service.operator, other.as(service.tokens.OPERATOR)] as const;

  const answers = await Promise.all(
    indices(20).map((index) => {
      const document = onMiss({ '*': listing(`/opt/bin/put${index}`) });
      const operator = operators[index % 2 === 0 ? 0 : 1];
      return insist(() => operator.call('PUT', PATH, { document, base_hash: base.hash }));
    }),
  );

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const won = answers.findIndex(({ status }) => status === 200);
  const { body } = await service.operator.get(PATH);
  expect(await readPatterns(service.operator, '*')).toEqual([`/opt/bin/put${won}`]);
  for (const { status, body: problem } of answers.filter((answer) => answer.status !== 200)) {
    expect({ status, code: problem.code, hash: problem.hash }).toEqual({
      status: 409,
      code: 'base_hash_mismatch',
      hash: body.hash,
    });
  }
});

test('of ten first puts exactly one makes the document', async () => {
  await service.sql`delete from exec_approvals`;
  const answers = await Promise.all(
    indices(10).map((index) => {
      const document = onMiss({ '*': listing(`/opt/bin/first${index}`) });
      return insist(() => service.operator.call('PUT', PATH, { document, base_hash: null }));
    }),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...indices(9).map(() => 409)]);
});

test('a put by who did not see what an approval added replaces nothing', async () => {
  const { body: base } = await service.operator.get(PATH);
  const id = await ask(service.agent, toolOf(0));
  await service.approver.post(`/v1/approvals/${id}/approve`, { scope: 'allowlist' });
  const late = await service.operator.call('PUT', PATH, { document: onMiss(), base_hash: base.hash });
  expect(late.status).toBe(409);
  expect(await readPatterns(service.operator, 'agent-1')).toEqual(['/opt/bin/tool0']);
});

test('an operator who stops asking while a vote is cast is not overruled by it', async () => {
  const id = await ask(service.agent, toolOf(0));
  const stopped = JSON.stringify({ ...onMiss(), defaults: { security: 'allowlist', ask: 'off' } });
  const held = await holdRow(
    service.sql,
    (session) => session`update exec_approvals set document = ${stopped}::text::jsonb`,
  );
  const voting = service.approver.post(`/v1/approvals/${id}/approve`, { scope: 'allowlist' });
  await untilBlocked(service.sql, 1);
  await held.release();

  expect((await voting).body).toMatchObject({ status: 'approved', votes: [{ scope: 'allowlist' }] });
  expect(await readPatterns(service.operator, 'agent-1')).toEqual([]);
});

test('a decision made from exec approvals that are replaced before it is recorded is made anew', async () => {
  await putExecApprovals(service.operator, onMiss({ '*': listing('/opt/bin/*') }));
  // Holds the key's row, which the decision takes once it is made.
  const held = await holdRow(
    service.sql,
    (session) => session`select from keys where principal = 'agent-1' for update`,
  );
  const pending = authorize(service.agent, toolOf(0));
  await untilBlocked(service.sql, 1);
  const deny = { version: 1, defaults: { security: 'deny' }, agents: {} };
  await putExecApprovals(service.operator, deny);
  await held.release();

  const { body } = await pending;

  expect(body).toMatchObject({ decision: 'deny', determining_policies: ['exec-security-denies'] });
  const recorded =
    await service.sql`select decision from decisions where decision_id = ${body.decision_id.slice(4)}`;
  expect(recorded).toEqual([{ decision: 'deny' }]);
});

test('uses that are recorded at once, of several entries each, do not stand in each other’s way', async () => {
  await putExecApprovals(
    service.operator,
    onMiss({ '*': listing('/opt/bin/tool0', '/opt/bin/tool1', '/opt/bin/tool2') }),
  );
  const orders = [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
  ];
  const answers = await Promise.all(
    indices(60).map((index) => {
      const order = orders[index % 3] ?? [];
      const text = order.map((tool) => `tool${tool} ${index}`).join(' | ');
      const paths = order.map((tool) => `/opt/bin/tool${tool}`);
      const client = index % 2 === 0 ? service.agent : other.as(service.tokens.AGENT);
      return insist(() => authorize(client, command(text, paths)));
    }),
  );
  expect(answers.map(({ body }) => body.decision)).toEqual(indices(60).map(() => 'allow'));
  const { body } = await service.operator.get(PATH);
  for (const entry of body.document.agents['*'].allowlist) {
    expect(entry).toMatchObject({ last_used_at: expect.any(String), last_resolved_path: entry.pattern });
  }
});
