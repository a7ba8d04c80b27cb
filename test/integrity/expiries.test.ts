import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/database.ts';
import { deleteExpired } from '../../src/storage/delete_expired.ts';
import { createExpiryStore } from '../../src/storage/expiries.ts';
import { ask, askApproved } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTcpProxy } from '../support/tcp_proxy.ts';
import { startTestService } from '../support/test_service.ts';

// Expiries are told once, by whichever process looks first, and counted.

const env = { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' };
const service = await startTestService({ env });
afterAll(() => service.close());

/** Takes the last of the life of approvals that have the rest of it behind them. */
async function expireAll(ids: readonly string[]): Promise<void> {
  await service.sql`update approvals
    set created_at = clock_timestamp() - interval '1 hour', expires_at = clock_timestamp() - interval '1 millisecond'
    where approval_id = any(${ids.map(uuidOf)}::uuid[])`;
}

async function countTold(ids: readonly string[], type: string): Promise<number> {
  const [row] = await service.sql<{ count: number }[]>`
    select count(*)::int as count from approval_events
    where type = ${type} and approval_id = any(${ids.map(uuidOf)}::uuid[])`;
  return row?.count ?? 0;
}

async function readCounter(series: string): Promise<number> {
  const { text } = await service.anonymous.get('/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('each of many is told once, however many look at the same time', async () => {
  const ids: string[] = [];
  while (ids.length < 20) ids.push(await ask(service.agent));
  const published: string[] = [];
  const database = openDatabase({ url: service.databaseUrl, poolMax: 8 });
  const store = createExpiryStore(database, { publish: (subjects) => published.push(...subjects) });
  await expireAll(ids);
  const told = await Promise.all(Array.from({ length: 8 }, () => store.tellExpiries()));
  await database.close();
  const mine = told.flatMap(({ expired }) => expired.map(({ approvalId }) => approvalId));
  expect(new Set(mine).size).toBe(mine.length);
  // What a look made of its own is published; the service's sweeper looks as well.
  expect(published.filter((subject) => subject !== 'approvals:default').toSorted()).toEqual(mine.toSorted());
  await expect.poll(() => countTold(ids, 'approval.expired')).toBe(ids.length);
  expect(await countTold(ids, 'approval.expiring')).toBe(0);
});

test('an approval that no approver was shown is counted as unseen, one that somebody read as seen', async () => {
  const series = (seen: boolean) => `aegis_approvals_expired_total{seen="${seen}"}`;
  const [unseenBefore, seenBefore] = [await readCounter(series(false)), await readCounter(series(true))];
  const [unseen, seen] = [await ask(service.agent), await ask(service.agent)];
  await service.approver.get(`/v1/approvals/${seen}`);
  await expireAll([unseen, seen]);
  await expect.poll(() => readCounter(series(true)), { timeout: 10_000 }).toBe(seenBefore + 1);
  await expect.poll(() => readCounter(series(false)), { timeout: 10_000 }).toBe(unseenBefore + 1);
});

test('one whose asker is gone is not told to be expiring', async () => {
  const [gone, there] = [await ask(service.agent), await ask(service.agent)];
  const age = (id: string, lease: string) => service.sql`update approvals
    set created_at = clock_timestamp() - interval '900 seconds', expires_at = clock_timestamp() + interval '100 seconds',
        asker_connection = gen_random_uuid(), asker_lease_until = clock_timestamp() + ${lease}::interval
    where approval_id = ${uuidOf(id)}`;
  await age(gone, '-1 second');
  await age(there, '1 hour');
  await expect.poll(() => countTold([there], 'approval.expiring'), { timeout: 10_000 }).toBe(1);
  expect(await countTold([gone], 'approval.expiring')).toBe(0);
});

test('one that is consumed, rejected or cancelled in time is never told to have expired', async () => {
  const consumed = await askApproved(service.agent, service.approver);
  await service.agent.post(`/v1/approvals/${consumed}/consume`);
  const rejected = await ask(service.as(service.tokens.AGENT));
  await service.approver.post(`/v1/approvals/${rejected}/reject`);
  const pending = await askApproved(service.agent, service.approver);
  await expireAll([consumed, rejected, pending]);
  await expect.poll(() => countTold([pending], 'approval.expired'), { timeout: 10_000 }).toBe(1);
  expect(await countTold([consumed, rejected], 'approval.expired')).toBe(0);
});

test('events are kept for 48 hours, and then no longer', async () => {
  const [old, young] = [await ask(service.agent), await ask(service.agent)];
  const age = (id: string, by: string) => service.sql`
    update approval_events set at = at - ${by}::interval where approval_id = ${uuidOf(id)}`;
  await age(old, '48 hours');
  await age(young, '47 hours');
  const database = openDatabase({ url: service.databaseUrl, poolMax: 1 });
  await deleteExpired(database);
  await database.close();
  expect(await countTold([old], 'approval.requested')).toBe(0);
  expect(await countTold([young], 'approval.requested')).toBe(1);
});

test('a database that is away delays it: what was due meanwhile is told when it is back, and logged once', async () => {
  const other = await startTestService({ env });
  const proxy = await startTcpProxy(other.databaseUrl);
  const behind = await startTestService({ env, databaseUrl: proxy.url });
  const id = await ask(other.agent);
  try {
    await proxy.cut();
    const complaints = () =>
      behind.logged.filter(({ message }) => /^expiries cannot be told/.test(message)).length;
    await expect.poll(complaints, { timeout: 20_000 }).toBe(1);
    await proxy.mend();
    await other.sql`update approvals set expires_at = clock_timestamp() where approval_id = ${uuidOf(id)}`;
    const told = () => other.sql`select from approval_events where type = 'approval.expired'`;
    await expect.poll(async () => (await told()).length, { timeout: 20_000 }).toBe(1);
    expect(complaints()).toBe(1);
  } finally {
    await behind.close();
    await proxy.close();
    await other.close();
  }
}, 90_000);
