import { getEventListeners, setMaxListeners } from 'node:events';
import { Hono } from 'hono';
import { v7 as newUuid } from 'uuid';
import { afterAll, expect, test } from 'vitest';
import { newSecret } from '../../src/cli/secrets.ts';
import type { Bindings } from '../../src/http/bindings.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createHandler } from '../../src/http/pipeline.ts';
import { getApprovalRoute } from '../../src/http/routes/read_approvals.ts';
import type { Deps } from '../../src/operations/deps.ts';
import { createEventFeeds } from '../../src/operations/events/event_feeds.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createSignalHub } from '../../src/storage/signals.ts';
import { createStore } from '../../src/storage/store.ts';
import { createThrottle } from '../../src/storage/throttle.ts';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';

const service = await startTestService();
const database = openDatabase({ url: service.databaseUrl, poolMax: 4 });
const hub = createSignalHub(database, service.databaseUrl);
afterAll(async () => {
  await hub.close();
  await database.close();
  await service.close();
});

const asksNoPolicy = (): never => {
  throw new Error('a wait asks no policy');
};

const store = createStore(database, hub);
const deps: Deps = {
  ...store,
  eventFeeds: createEventFeeds({ ...store, signals: hub, now: () => new Date() }),
  policy: { load: asksNoPolicy, find: asksNoPolicy, keep: asksNoPolicy },
  compiler: {
    readFolder: asksNoPolicy,
    splitText: asksNoPolicy,
    compile: asksNoPolicy,
    simulate: asksNoPolicy,
    inTurn: asksNoPolicy,
    close: async () => undefined,
  },
  signals: hub,
  metrics: createMetrics(async () => 0),
  throttle: createThrottle(database, {
    attemptLimit: 5,
    attemptWindowSeconds: 60,
    addressFailureLimitPerMinute: 100,
  }),
  webhookTargets: { examine: asksNoPolicy },
  newUuid,
  newSecret,
  publicUrl: { get: () => 'http://localhost', isConfigured: false },
  now: () => new Date(),
  settings: {
    approvalTtlSeconds: 600,
    pendingLimit: 100,
    askLimitPerHour: 100,
    attemptLimit: 5,
    policyDrift: 'revalidate',
    denialSeconds: 600,
  },
};

const WAITS = 30;

/** Waits of the agent that are under way, and how many of them listen to `stopping`. */
async function beginWaits(id: string, stopping: AbortSignal) {
  setMaxListeners(0, stopping);
  const app = new Hono<{ Bindings: Bindings }>();
  app.get(getApprovalRoute.path, createHandler(getApprovalRoute, { deps, trustedProxies: [], stopping }));
  const headers = { authorization: `Bearer ${service.tokens.AGENT}` };
  const clients = Array.from({ length: WAITS }, () => new AbortController());
  const answers = clients.map(({ signal }) =>
    app.request(`/v1/approvals/${id}?wait=20`, { headers, signal }),
  );
  const countListeners = () => getEventListeners(stopping, 'abort').length;
  await expect.poll(countListeners, { interval: 5 }).toBe(WAITS);
  return { clients, answers, countListeners };
}

async function readStatuses(answers: (Response | Promise<Response>)[]): Promise<Set<string>> {
  const bodies = await Promise.all(answers.map(async (answer) => (await answer).json()));
  return new Set(bodies.map(({ status }) => status));
}

test('waits that have ended leave nothing on the signal of the service’s stop', async () => {
  const id = await ask(service.agent);
  const { answers, countListeners } = await beginWaits(id, new AbortController().signal);
  await service.approver.post(`/v1/approvals/${id}/approve`);
  expect(await readStatuses(answers)).toStrictEqual(new Set(['approved']));
  expect(countListeners()).toBe(0);
});

test('the waits of clients that have gone end, and leave nothing either', async () => {
  const id = await ask(service.agent);
  const { clients, answers, countListeners } = await beginWaits(id, new AbortController().signal);
  const startedAt = performance.now();
  for (const client of clients) client.abort();
  expect(await readStatuses(answers)).toStrictEqual(new Set(['pending']));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(countListeners()).toBe(0);
});

test('the service’s stop ends the waits under way with what they have', async () => {
  const id = await ask(service.agent);
  const stop = new AbortController();
  const { answers, countListeners } = await beginWaits(id, stop.signal);
  const startedAt = performance.now();
  stop.abort();
  expect(await readStatuses(answers)).toStrictEqual(new Set(['pending']));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(countListeners()).toBe(0);
});

test('many waits at once are no leak for the runtime to warn of', async () => {
  const warnings: Error[] = [];
  const keep = (warning: Error) => warnings.push(warning);
  process.on('warning', keep);
  const id = await ask(service.agent);
  const countReadings = () => service.statements.filter((text) => text.includes('json_agg')).length;
  const waits: Promise<ApiAnswer>[] = [];
  // One after the other: those that arrive together share a reading.
  for (let count = 0; count < WAITS; count += 1) {
    const before = countReadings();
    waits.push(service.agent.get(`/v1/approvals/${id}?wait=20`));
    await expect.poll(countReadings, { interval: 5 }).toBeGreaterThan(before);
  }
  await service.approver.post(`/v1/approvals/${id}/approve`);
  for (const answer of await Promise.all(waits)) expect(answer.body.status).toBe('approved');
  process.off('warning', keep);
  expect(warnings).toStrictEqual([]);
});
