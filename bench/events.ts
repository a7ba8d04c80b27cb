import { setTimeout as sleep } from 'node:timers/promises';
import { runAuthorizes } from './authorize.ts';
import { EventReader } from './event_reader.ts';
import { buildRequest, HttpClient } from './http_client.ts';
import type { LoadResult } from './load.ts';
import { OpenConsole, signInToConsole } from './open_console.ts';
import { authorizeBody, type World } from './world.ts';

/** So many consoles of one approver, and as many readers of another. */
const READERS_EACH = 200;
/** How often something happens to approvals: an ask, which is cancelled at once. */
const ASK_EVERY_MS = 500;
const HEARD_WITHIN_MS = 60_000;

export interface EventsUse {
  readers: number;
  /** What consoles asked for to show what had happened. */
  fragments: number;
  refused: number;
  /** From an ask's answer until all had heard of it, in milliseconds. */
  toAllMs: number[];
  /** Of authorize, with readers and without; the same happens to approvals. */
  withReaders: LoadResult;
  without: LoadResult;
}

/** Asks and cancels again and again until told to stop; when each ask was answered. */
async function keepAsking({ server }: World, client: HttpClient, isDone: () => boolean): Promise<number[]> {
  const { url, tokens } = server;
  const ask = buildRequest(url, 'POST', '/v1/authorize', tokens.AGENT, authorizeBody(9000));
  const answeredAt: number[] = [];
  while (!isDone()) {
    const asked = await client.send(ask);
    // Where the load leaves no time for it, nothing happened.
    if (asked.status === 503) continue;
    answeredAt.push(performance.now());
    const { approval } = JSON.parse(asked.body) as { approval: { approval_id: string } | null };
    if (asked.status !== 200 || approval === null)
      throw new Error(`an ask answered ${asked.status}: ${asked.body}`);
    const path = `/v1/approvals/${approval.approval_id}/cancel`;
    const { status, body } = await client.send(buildRequest(url, 'POST', path, tokens.AGENT));
    if (status !== 200) throw new Error(`a cancel answered ${status}: ${body}`);
    await sleep(ASK_EVERY_MS);
  }
  return answeredAt;
}

async function runWithAsks(
  world: World,
  operations: number,
): Promise<{ load: LoadResult; answeredAt: number[] }> {
  const client = await HttpClient.open(world.server.url);
  let isDone = false;
  const asking = keepAsking(world, client, () => isDone);
  try {
    const load = await runAuthorizes(world, operations);
    isDone = true;
    return { load, answeredAt: await asking };
  } finally {
    isDone = true;
    client.close();
  }
}

async function openReaders({ server }: World): Promise<(EventReader | OpenConsole)[]> {
  const { url, tokens } = server;
  const session = await signInToConsole(url, tokens.APPROVER2);
  const credential = `authorization: Bearer ${tokens.APPROVER}`;
  const readers: (EventReader | OpenConsole)[] = [];
  for (let opened = 0; opened < READERS_EACH; opened += 1) {
    readers.push(await EventReader.open(url, { path: '/v1/events', credential }));
    readers.push(await OpenConsole.open(url, session));
  }
  return readers;
}

/** How long it took each ask to be heard of by all. */
async function untilAllHeard(
  readers: readonly { heardAt: readonly number[] }[],
  answeredAt: readonly number[],
): Promise<number[]> {
  const deadline = performance.now() + HEARD_WITHIN_MS;
  while (readers.some(({ heardAt }) => heardAt.length < answeredAt.length)) {
    if (performance.now() > deadline) throw new Error('an event did not reach all readers');
    await sleep(1);
  }
  return answeredAt.map((at, index) => Math.max(...readers.map(({ heardAt }) => heardAt[index] ?? 0)) - at);
}

function pool(loads: readonly LoadResult[]): LoadResult {
  const latencies = loads.flatMap((load) => load.latencies);
  return { latencies, perSecond: loads.reduce((sum, { perSecond }) => sum + perSecond, 0) / loads.length };
}

/** What many readers of events cost authorize, and how soon they all hear; with and without in turn. */
export async function measureEvents(world: World, rounds: number, operations: number): Promise<EventsUse> {
  const withReaders: LoadResult[] = [];
  const without: LoadResult[] = [];
  const toAllMs: number[] = [];
  let fragments = 0;
  let refused = 0;
  await runWithAsks(world, operations);
  for (let round = 0; round < rounds; round += 1) {
    without.push((await runWithAsks(world, operations)).load);
    const readers = await openReaders(world);
    const { load, answeredAt } = await runWithAsks(world, operations);
    withReaders.push(load);
    toAllMs.push(...(await untilAllHeard(readers, answeredAt)));
    for (const reader of readers) {
      if (reader instanceof OpenConsole) {
        fragments += reader.fragments;
        refused += reader.refused;
      }
      reader.close();
    }
  }
  return {
    readers: READERS_EACH * 2,
    fragments,
    refused,
    toAllMs,
    withReaders: pool(withReaders),
    without: pool(without),
  };
}
