import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { editedCall, newAgent, newApprover, ROOMY } from '../contract/support.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type At, approvals, type Running, start, UNSAFE } from './approvals_support.ts';

vi.setConfig({ testTimeout: 90_000 });

let service: TestService;
let at: At;
beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  at = { url: service.url, token: service.tokens.APPROVER };
});
afterAll(() => service.close());

let running: Running | undefined;
afterEach(async () => {
  running?.interrupt();
  await running?.ended;
  running = undefined;
});

function watch(where: At, ...args: string[]): Running {
  running = start(where, 'watch', ...args);
  return running;
}

const linesOf = ({ said }: Running): string[] => said.stdout.split('\n').slice(0, -1);
const untilLines = (of: Running, number: number): Promise<void> =>
  expect.poll(() => linesOf(of).length, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(number);

interface Told {
  type: string;
  approval_id: string;
  event_id: string | null;
}
const toldOf = (of: Running): Told[] => linesOf(of).map((line) => JSON.parse(line) as Told);
const shortOf = (of: Running) => toldOf(of).map(({ type, approval_id }) => [type, approval_id]);

describe('aegis approvals watch', () => {
  test('begins with what is pending, tells what happens in a line each, and ends with 0 when interrupted', async () => {
    const agent = await newAgent(service);
    const waiting = await ask(agent.client, refund(200_000));
    await askApproved(agent.client, service.approver);
    const watching = watch(at, '--agent', agent.principal);
    await untilLines(watching, 1);
    const later = refund(9000);
    const id = await ask(agent.client, later);
    await service.approver.post(`/v1/approvals/${waiting}/approve`);
    await service.approver.post(`/v1/approvals/${id}/reject`, { reason: 'not\u200b\ntoday' });
    await untilLines(watching, 5);
    watching.interrupt();

    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' });
    const lines = linesOf(watching);
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
    const of = (word: string, approval: string) =>
      `^${time} ${word} +${approval} ${agent.principal} stripe/refund`;
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`${of('pending', waiting)} ch_\\S+: 0 of 2 votes, (29|30)m left$`)),
      expect.stringMatching(
        new RegExp(`${of('requested', id)} ${later.resource}: 0 of 1 votes, (30|29)m left$`),
      ),
      expect.stringMatching(new RegExp(`${of('voted', waiting)} ch_\\S+: 1 of 2 votes, (29|30)m left$`)),
      expect.stringMatching(new RegExp(`${of('voted', id)} \\S+: 0 of 1 votes, (29|30)m left$`)),
      expect.stringMatching(
        new RegExp(
          `${of('decided', id)} \\S+: rejected by approver-1: "not\\\\u\\{200b\\}\\\\u\\{a\\}today"$`,
        ),
      ),
    ]);
  });

  test('as JSON is an object a line, with what events tell', async () => {
    const agent = await newAgent(service);
    const waiting = await ask(agent.client);
    const watching = watch(at, '--agent', agent.principal.toUpperCase(), '--json');
    await untilLines(watching, 1);
    const id = await ask(agent.client, { ...refund(9000), resource: 'a\u001b[2J\u202e\u2028' });
    const other = await newApprover(service);
    const tool_call = await editedCall(other.client, id, { amount: 9_999 });
    await other.client.post(`/v1/approvals/${id}/edit`, { tool_call });
    await untilLines(watching, 3);

    expect(watching.said.stdout).not.toMatch(UNSAFE);
    const [first, second, third] = toldOf(watching);
    expect(first).toMatchObject({ type: 'pending', approval_id: waiting, event_id: null });
    expect(second).toMatchObject({ type: 'approval.requested', resource: 'a\u001b[2J\u202e\u2028' });
    expect(third).toMatchObject({ type: 'approval.edited', approval_id: id, version: 2, edited: true });
    expect(Object.keys(second ?? {}).sort()).toEqual(Object.keys(first ?? {}).sort());
    expect(third?.event_id).toMatch(/^\d+-\d+$/);
  });

  test('tells what was asked for while it began once', async () => {
    const agent = await newAgent(service);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await ask(agent.client));
    const watching = watch(at, '--agent', agent.principal, '--json');
    for (let count = 0; count < 15; count += 1) ids.push(await ask(agent.client));
    await untilLines(watching, ids.length);
    const last = await ask(agent.client);
    await expect.poll(() => toldOf(watching).at(-1)?.approval_id, { timeout: 15_000 }).toBe(last);
    expect(
      toldOf(watching)
        .map((told) => told.approval_id)
        .sort(),
    ).toEqual([...ids, last].sort());
  });

  test('tells an agent of its own alone', async () => {
    const agent = await newAgent(service);
    const watching = watch({ url: service.url, token: agent.token }, '--json');
    const first = await ask(agent.client);
    await untilLines(watching, 1);
    await ask(service.agent);
    const second = await ask(agent.client);
    await untilLines(watching, 2);
    expect(toldOf(watching).map((told) => told.approval_id)).toEqual([first, second]);
  });

  test('ends with 2 when the key is revoked', async () => {
    const { token, id } = await makeKey(service.operator, { principal: 'leaver', roles: ['approver'] });
    const agent = await newAgent(service);
    const watching = watch({ url: service.url, token }, '--agent', agent.principal);
    await ask(agent.client);
    await untilLines(watching, 1);
    await service.operator.delete(`/v1/keys/${id}`);
    const ended = await watching.ended;
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/^connection lost: .*\n.*\(unauthenticated\)\n$/);
  });

  test('with a wrong key ends at once with 2', async () => {
    const { code, stderr } = await approvals({ ...at, token: 'aeg_wrong' }, 'watch');
    expect(code).toBe(2);
    expect(stderr).toMatch(/\(unauthenticated\)\n$/);
  });
});

describe('when the service is started anew', () => {
  test('watch goes on by itself, and tells what happened meanwhile, each event once', async () => {
    const folder = makeFolder();
    // A replica of its own, that goes away; on the other things happen meanwhile.
    const startReplica = (port: string): Promise<ServiceProcess> =>
      startServiceProcess({ DATABASE_URL: service.databaseUrl, AEGIS_DATA_DIR: folder.path, PORT: port });
    const replicas: ServiceProcess[] = [];
    try {
      const first = await startReplica('0');
      replicas.push(first);
      const agent = await newAgent(service);
      const watching = watch({ ...at, url: first.url }, '--agent', agent.principal, '--json');
      const one = await ask(agent.client);
      await untilLines(watching, 1);
      await first.end('SIGKILL');
      await expect
        .poll(() => watching.said.stderr, { timeout: 25_000 })
        .toMatch(/^connection lost: .* Trying again in \d/);
      const two = await ask(agent.client);
      await service.approver.post(`/v1/approvals/${one}/approve`);
      await service.approver.post(`/v1/approvals/${two}/reject`);
      replicas.push(await startReplica(new URL(first.url).port));
      await untilLines(watching, 6);
      const three = await ask(agent.client);
      await untilLines(watching, 7);

      const [begun, ...after] = shortOf(watching);
      expect(begun?.[1]).toBe(one);
      expect(after).toEqual([
        ['approval.requested', two],
        ['approval.voted', one],
        ['approval.decided', one],
        ['approval.voted', two],
        ['approval.decided', two],
        ['approval.requested', three],
      ]);
      watching.interrupt();
      expect((await watching.ended).code).toBe(0);
    } finally {
      await Promise.all(replicas.map((one) => one.end('SIGKILL')));
      folder.remove();
    }
  }, 180_000);
});
