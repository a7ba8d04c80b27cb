import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { type EventClient, openEvents, tellsOf } from '../support/event_client.ts';
import { holdRow, uuidOf } from '../support/locks.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Events across processes: none is lost, none is told twice or before one that comes first, whoever writes and reads.

const ROOMY = { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' };

let here: TestService;
/** Another process on the same database. */
let there: TestService;

beforeAll(async () => {
  here = await startTestService({ env: ROOMY });
  there = await startTestService({ env: ROOMY, databaseUrl: here.databaseUrl });
});
afterAll(async () => {
  await there.close();
  await here.close();
});

const open: EventClient[] = [];
afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

async function listen(
  service: TestService,
  token = here.tokens.APPROVER,
  lastEventId?: string,
): Promise<EventClient> {
  const client = await openEvents(service.url, { token, lastEventId });
  expect(client.status).toBe(200);
  open.push(client);
  return client;
}

const idsOf = (client: EventClient): string[] => client.events.map(({ id }) => id);

/** Every event of the tenant after an id, as the table has them, in the order of telling. */
async function storedAfter(id: string): Promise<string[]> {
  const [xid = '', seq = ''] = id.split('-');
  const rows = await here.sql<{ id: string }[]>`
    select xid || '-' || seq as id from approval_events
    where tenant_id = 'default' and (xid, seq) > (${xid}::xid8, ${seq}::bigint) order by approval_events.xid, approval_events.seq`;
  return rows.map((row) => row.id);
}

/** Begins a transaction of the database that has a number, and so could have written an event already. */
function holdTransaction(sql: postgres.Sql) {
  return holdRow(sql, (session) => session`select pg_current_xact_id()`);
}

describe('a transaction that began earlier and goes on', () => {
  test('holds back what later ones wrote; once it has committed, its own is told first and none is lost', async () => {
    const client = await listen(here);
    const older = await ask(here.agent);
    await client.heard(1);
    const held = await holdTransaction(here.sql);
    const later = await ask(there.as(here.tokens.AGENT));
    await expect.poll(async () => (await storedAfter(client.lastId())).length).toBe(1);
    const looks = () => here.statements.filter((text) => text.includes('approval_events u')).length;
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + 2);
    expect(tellsOf(client.events)).toEqual(['requested']);

    await held.session`update approvals set status = 'cancelled', decided_by = agent, decided_at = clock_timestamp()
      where approval_id = ${uuidOf(older)}`;
    await held.release();
    await client.heard(3);
    expect(client.events.map(({ event, data }) => [event, data.approval_id])).toEqual([
      ['approval.requested', older],
      ['approval.cancelled', older],
      ['approval.requested', later],
    ]);
  });

  test('is passed by where it belongs to another database of the same cluster', async () => {
    const other = await createTestDatabase();
    const sql = postgres(other.url, { max: 1, onnotice: () => undefined });
    const held = await holdTransaction(sql);
    try {
      const client = await listen(here);
      const id = await ask(here.agent);
      await client.heard(1);
      expect(client.events[0]?.data.approval_id).toBe(id);
    } finally {
      await held.release();
      await sql.end();
      await other.drop();
    }
  });

  test('does not hold back a reader who comes meanwhile: that one hears all of it as well', async () => {
    const held = await holdTransaction(here.sql);
    const client = await listen(here);
    const id = await ask(here.agent);
    await held.release();
    await client.heard(1);
    expect(client.events.map(({ data }) => data.approval_id)).toEqual([id]);
  });
});

describe('many writers on two processes, and readers who come and go', () => {
  const WRITERS = 4;
  const ROUNDS = 8;

  /** Asks, and has it decided and consumed, by both processes in turn. */
  async function write(writer: number): Promise<void> {
    const { token } = await makeKey(here.operator, { principal: `writer-${writer}`, roles: ['agent'] });
    const [first, second] = writer % 2 === 0 ? [here, there] : [there, here];
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await askApproved(first.as(token), second.as(here.tokens.APPROVER));
      await first.as(token).post(`/v1/approvals/${id}/consume`);
    }
  }

  /** Keeps a transaction open over others, again and again, until told to stop. */
  async function disturb(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const held = await holdTransaction(here.sql);
      await held.session`select pg_sleep(0.05)`;
      await held.release();
    }
  }

  /** Reads in turn from both, and each time begins again where it was cut off; the ids that it heard. */
  async function readByTurns(start: string, stop: AbortSignal): Promise<string[]> {
    const ids: string[] = [];
    for (let turn = 0; !stop.aborted; turn += 1) {
      const client = await listen(turn % 2 === 0 ? here : there, here.tokens.APPROVER2, ids.at(-1) ?? start);
      await expect
        .poll(() => stop.aborted || client.events.length > turn % 5, { interval: 5, timeout: 20_000 })
        .toBe(true);
      client.close();
      ids.push(...idsOf(client));
    }
    return ids;
  }

  test('every reader hears every event once, in one order; one that changes processes too', async () => {
    const clients = [await listen(here), await listen(there), await listen(here)];
    const start = clients[0]?.lastId() ?? '';
    const stopping = new AbortController();
    const disturbing = disturb(stopping.signal);
    const turning = readByTurns(start, stopping.signal);
    try {
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
      const expected = await storedAfter(start);
      expect(expected.length).toBeGreaterThanOrEqual(WRITERS * ROUNDS * 4);
      await Promise.all(clients.map((client) => client.heard(expected.length, 20_000)));
      for (const client of clients) expect(idsOf(client)).toEqual(expected);
    } finally {
      stopping.abort();
      await disturbing;
    }
    const expected = await storedAfter(start);
    const turned = await turning;
    expect(turned).toEqual(expected.slice(0, turned.length));
    const rest = await listen(here, here.tokens.APPROVER2, turned.at(-1) ?? start);
    await rest.heard(expected.length - turned.length);
    expect([...turned, ...idsOf(rest)]).toEqual(expected);
  }, 90_000);
});

describe('a stream ends within a second', () => {
  const LIMIT_MS = 1000;

  async function expectEnd(client: EventClient, end: () => Promise<unknown>): Promise<void> {
    expect(client.isEnded()).toBe(false);
    await end();
    const endedAt = performance.now();
    await client.untilEnded();
    expect(performance.now() - endedAt).toBeLessThan(LIMIT_MS);
  }

  test('of its key’s revocation, by another process', async () => {
    const key = await makeKey(here.operator, { principal: 'leaver', roles: ['approver'] });
    const client = await listen(there, key.token);
    await expectEnd(client, () => here.operator.delete(`/v1/keys/${key.id}`));
    expect((await openEvents(there.url, { token: key.token, lastEventId: client.lastId() })).status).toBe(
      401,
    );
  });

  test('of its agent’s freeze', async () => {
    const key = await makeKey(here.operator, { principal: 'cold', roles: ['agent'] });
    const client = await listen(there, key.token);
    await expectEnd(client, () => here.operator.post('/v1/agents/cold/freeze'));
  });

  test('of its key’s expiry', async () => {
    const expiresAt = new Date(Date.now() + 2500);
    const key = await makeKey(here.operator, {
      principal: 'brief',
      roles: ['approver'],
      expires_at: expiresAt.toISOString(),
    });
    const client = await listen(there, key.token);
    await client.untilEnded();
    expect(Date.now() - expiresAt.getTime()).toBeGreaterThanOrEqual(0);
    expect(Date.now() - expiresAt.getTime()).toBeLessThan(LIMIT_MS);
  });

  test('of the service’s stop, which waits for none; it goes on at another process', async () => {
    const third = await startTestService({ env: ROOMY, databaseUrl: here.databaseUrl });
    const clients = await Promise.all(Array.from({ length: 20 }, () => listen(third)));
    const startedAt = performance.now();
    await third.close();
    expect(performance.now() - startedAt).toBeLessThan(4000);
    for (const client of clients) expect(client.isEnded()).toBe(true);
    const id = await ask(here.agent);
    const again = await listen(there, here.tokens.APPROVER, clients[0]?.lastId());
    await again.heard(1);
    expect(again.events.map(({ data }) => data.approval_id)).toEqual([id]);
  });
});

describe('many readers', () => {
  /** Writes events as an approval's changes do, without the changes. */
  async function writeEvents(id: string, count: number): Promise<void> {
    await here.sql`
      insert into approval_events (tenant_id, approval_id, agent, type, version, status, action_hash)
      select a.tenant_id, a.approval_id, a.agent, 'approval.voted', a.version, a.status, a.action_hash
      from approvals a, generate_series(1, ${count}) where a.approval_id = ${uuidOf(id)}`;
  }

  test('200 of them hear an event within a second of its answer', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => listen(there)));
    for (let round = 0; round < 3; round += 1) {
      await ask(here.agent);
      const answeredAt = performance.now();
      await Promise.all(clients.map((client) => client.heard(round + 1)));
      const delays = clients.map(
        ({ events }) => (events[round]?.heardAt ?? Number.POSITIVE_INFINITY) - answeredAt,
      );
      expect(Math.max(...delays)).toBeLessThan(1000);
    }
    const [first, ...others] = clients.map(idsOf);
    for (const ids of others) expect(ids).toEqual(first);
  }, 60_000);

  test('one that takes nothing holds up none; what it missed it reads later at its own pace, in order', async () => {
    const EVENTS = 4000;
    const [slow, quick] = [await listen(there), await listen(there)];
    slow.pause();
    const start = slow.lastId();
    const id = await ask(here.agent, { ...refund(9000), resource: 'r'.repeat(1000) });
    for (let round = 0; round < 10; round += 1) await writeEvents(id, EVENTS / 10);
    await quick.heard(EVENTS + 1, 20_000);
    expect(slow.events).toEqual([]);
    const pages = () => there.statements.filter((text) => text.includes('approval_events u')).length;
    const before = pages();
    slow.resume();
    await slow.heard(EVENTS + 1, 20_000);
    // The ring holds 500: most of it was waiting in the store.
    expect(pages()).toBeGreaterThan(before + 5);
    expect(idsOf(slow)).toEqual(await storedAfter(start));
    expect(idsOf(slow)).toEqual(idsOf(quick));
  }, 60_000);
});
