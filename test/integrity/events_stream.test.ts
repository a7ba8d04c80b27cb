import { Hono } from 'hono';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Caller } from '../../src/core/caller.ts';
import { answerStream } from '../../src/http/answer_stream.ts';
import type { Bindings } from '../../src/http/bindings.ts';
import { type EventStreamTimes, streamEvents } from '../../src/http/events/event_stream.ts';
import { type RunningServer, serveApp } from '../../src/http/server.ts';
import { createEventFeeds } from '../../src/operations/events/event_feeds.ts';
import { followEvents } from '../../src/operations/events/follow_events.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createSignalHub } from '../../src/storage/signals.ts';
import { createStore } from '../../src/storage/store.ts';
import { ask, refund } from '../support/calls.ts';
import { type EventClient, openEvents } from '../support/event_client.ts';
import { uuidOf } from '../support/locks.ts';
import { startTcpProxy } from '../support/tcp_proxy.ts';
import { startTestService } from '../support/test_service.ts';

// A stream on a server of its own, with times short enough to see them pass.

const service = await startTestService({
  env: { AEGIS_PENDING_LIMIT: '100000', AEGIS_ASK_LIMIT_PER_HOUR: '100000' },
});
const proxy = await startTcpProxy(service.databaseUrl);
const database = openDatabase({ url: proxy.url, poolMax: 4 });
const hub = createSignalHub(database, proxy.url);
const store = createStore(database, hub);
const now = () => new Date();
const deps = {
  ...store,
  signals: hub,
  now,
  eventFeeds: createEventFeeds({ ...store, signals: hub, now }),
};

const servers: RunningServer[] = [];
const clients: EventClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) await server.close();
});
afterAll(async () => {
  await hub.close();
  await database.close();
  await proxy.close();
  await service.close();
});

async function findApprover(): Promise<Caller> {
  const { body } = await service.approver.get('/v1/me');
  const [row] = await service.sql<
    { mask_key: string }[]
  >`select mask_key from tenants where tenant_id = 'default'`;
  return {
    tenantId: body.tenant_id,
    principal: body.principal,
    roles: body.roles,
    keyId: uuidOf(body.key_id.replace(/^key_/, 'apr_')),
    expiresAt: null,
    tenant: { maskKey: row?.mask_key },
  } as unknown as Caller;
}

/** Streams to whoever connects; counts the streams that have ended, by how they did. */
async function serve(times: EventStreamTimes) {
  const caller = await findApprover();
  const ended = { ended: 0, stalled: 0 };
  const app = new Hono<{ Bindings: Bindings }>();
  app.get('/v1/events', async (c) => {
    const stream = streamEvents(
      await followEvents(deps, caller, { after: undefined, signal: c.req.raw.signal }),
      times,
    );
    void stream.ended.then((how) => {
      ended[how] += 1;
    });
    return answerStream(c, stream, {});
  });
  const server = await serveApp({
    fetch: app.fetch,
    hostname: '127.0.0.1',
    port: 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined } as never,
  });
  servers.push(server);
  return {
    ended,
    listen: async () => {
      const client = await openEvents(server.url, {});
      clients.push(client);
      return client;
    },
  };
}

test('a stream that has nothing to tell says so in comments, again and again, and is no less quick for it', async () => {
  const { listen } = await serve({ heartbeatMs: 40, stalledMs: 60_000 });
  const client = await listen();
  await expect.poll(() => client.comments.length, { interval: 5 }).toBeGreaterThanOrEqual(6);
  expect(client.comments.slice(0, 4)).toEqual(['open', 'still here', 'still here', 'still here']);
  expect(client.events).toEqual([]);
  const id = await ask(service.agent);
  await client.heard(1);
  const count = client.comments.length;
  await expect.poll(() => client.comments.length, { interval: 5 }).toBeGreaterThan(count);
  expect(client.events.map(({ data }) => data.approval_id)).toEqual([id]);
});

test('a client that reads nothing while there is something for it is cut off; one that reads is not', async () => {
  const { listen, ended } = await serve({ heartbeatMs: 200, stalledMs: 700 });
  const [stuck, reading] = [await listen(), await listen()];
  stuck.pause();
  const id = await ask(service.agent, { ...refund(9000), resource: 'r'.repeat(3000) });
  const write = () => service.sql`
    insert into approval_events (tenant_id, approval_id, agent, type, version, status, action_hash)
    select a.tenant_id, a.approval_id, a.agent, 'approval.voted', a.version, a.status, a.action_hash
    from approvals a, generate_series(1, 500) where a.approval_id = ${uuidOf(id)}`;
  // More than the connection's own buffers take.
  for (let round = 0; ended.stalled === 0 && round < 12; round += 1) await write();
  await expect.poll(() => ended.stalled, { timeout: 60_000 }).toBe(1);
  stuck.resume();
  await stuck.untilEnded();
  expect(reading.isEnded()).toBe(false);
  const [rows] = await service.sql<
    { count: number }[]
  >`select count(*)::int from approval_events where approval_id = ${uuidOf(id)}`;
  await reading.heard(rows?.count ?? 0, 60_000);
  expect(ended).toEqual({ ended: 0, stalled: 1 });
}, 120_000);

test('a client that goes leaves nothing behind', async () => {
  const { listen, ended } = await serve({ heartbeatMs: 60_000, stalledMs: 60_000 });
  const opened = await Promise.all(Array.from({ length: 20 }, listen));
  for (const client of opened) client.close();
  await expect.poll(() => ended).toEqual({ ended: 20, stalled: 0 });
});

test('a database that is away ends no stream: what happened meanwhile is told when it is back', async () => {
  const { listen } = await serve({ heartbeatMs: 50, stalledMs: 60_000 });
  const client = await listen();
  await proxy.cut();
  const id = await ask(service.agent);
  const count = client.comments.length;
  await expect.poll(() => client.comments.length, { timeout: 10_000 }).toBeGreaterThan(count + 20);
  expect({ ended: client.isEnded(), events: client.events }).toEqual({ ended: false, events: [] });
  await proxy.mend();
  await client.heard(1, 20_000);
  expect(client.events.map(({ data }) => data.approval_id)).toEqual([id]);
}, 60_000);
