import { afterAll, expect, test, vi } from 'vitest';
import { ask, askApproved } from '../support/calls.ts';
import { openEvents } from '../support/event_client.ts';
import { makeFolder, type ServiceProcess, startServiceProcess } from '../support/service_process.ts';
import { createTestDatabase } from '../support/test_database.ts';

// NOTHING LOST: whoever hears events goes on at another process, after any kill.

// Each start of a process takes a second, and several on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const database = await createTestDatabase();
const folder = makeFolder();
const running: ServiceProcess[] = [];
afterAll(async () => {
  for (const process of running) await process.end('SIGKILL');
  await database.drop();
  folder.remove();
});

async function start(): Promise<ServiceProcess> {
  const started = await startServiceProcess({ DATABASE_URL: database.url, AEGIS_DATA_DIR: folder.path });
  running.push(started);
  return started;
}

test('a process killed with a stream open and asks under way: another tells all that was answered, each once', async () => {
  const first = await start();
  const { tokens } = first;
  if (tokens === undefined) throw new Error('the first start made no keys');
  const agent = first.as(tokens.AGENT);
  const client = await openEvents(first.url, { token: tokens.APPROVER });
  const answered = [await askApproved(agent, first.as(tokens.APPROVER))];
  await client.heard(3);
  const underWay = Array.from({ length: 20 }, () => ask(agent).then((id) => answered.push(id)));
  await Promise.any(underWay);
  await first.end('SIGKILL');
  running.length = 0;
  await Promise.allSettled(underWay);
  await client.untilEnded();

  const second = await start();
  const again = await openEvents(second.url, { token: tokens.APPROVER, lastEventId: client.lastId() });
  answered.push(await ask(second.as(tokens.AGENT)));
  const requested = () =>
    [...client.events, ...again.events]
      .filter(({ event }) => event === 'approval.requested')
      .map(({ data }) => data.approval_id as string);
  await expect.poll(() => answered.every((id) => requested().includes(id)), { timeout: 20_000 }).toBe(true);
  expect(new Set(requested()).size).toBe(requested().length);
  const ids = [...client.events, ...again.events].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  again.close();
});
