import { rmSync } from 'node:fs';
import { buildRequest, HttpClient } from './http_client.ts';
import { type Comparison, compare, type LoadResult, runLoad } from './load.ts';
import { callBody, policyText, type RuleSetSize, writePolicyFolder } from './rule_set.ts';
import { type ServerProcess, startServerProcess } from './server_process.ts';
import { median } from './stats.ts';
import { CONCURRENCY } from './world.ts';

/** What every set is compared with. */
const SMALL: RuleSetSize = { policies: 10, tools: 5 };

/** Requests sent after a revision was activated, on which its slices are opened. */
const REQUESTS_AFTER = 4_000;
const MEMORY_SAMPLE_MS = 250;

export interface Activation {
  /** From the operator's request to its answer. */
  seconds: number;
  /** Of requests before it. */
  p50Ms: number;
  /** Of requests sent while it ran, and for a while after. */
  slowestMs: number;
  peakMb: number;
}

export interface Scale {
  size: RuleSetSize;
  /** Throughput of the large set by that of the small one. */
  authorize: Comparison;
  activation: Activation;
  residentMb: number;
}

/** A service with a generated set, and as many connections to it as there are workers. */
interface Site {
  server: ServerProcess;
  clients: HttpClient[];
  /** One authorize call of each tool. */
  requests: Buffer[];
  close(): Promise<void>;
}

async function openSite({ policies, tools }: RuleSetSize): Promise<Site> {
  const folder = writePolicyFolder({ policies, tools });
  const server = await startServerProcess(folder);
  const clients = await connect(server);
  return {
    server,
    clients,
    requests: Array.from({ length: tools }, (_, tool) =>
      buildRequest(server.url, 'POST', '/v1/authorize', server.tokens.AGENT, callBody(tool)),
    ),
    close: async () => {
      for (const client of clients) client.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function connect(server: ServerProcess): Promise<HttpClient[]> {
  return Promise.all(Array.from({ length: CONCURRENCY }, () => HttpClient.open(server.url)));
}

async function reconnect(site: Site): Promise<void> {
  for (const client of site.clients) client.close();
  site.clients.splice(0, CONCURRENCY, ...(await connect(site.server)));
}

/** Calls of every tool in turn; every answer must be an allow. */
function runCalls({ clients, requests }: Site, operations: number): Promise<LoadResult> {
  return runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: (operation, worker) =>
      assertAllowed(clients[worker] as HttpClient, requests[operation % requests.length] as Buffer),
  });
}

async function assertAllowed(client: HttpClient, request: Buffer): Promise<void> {
  const { status, body } = await client.send(request);
  if (status !== 200 || !body.includes('"decision":"allow"'))
    throw new Error(`authorize answered ${status}: ${body}`);
}

/** Activates the tenant's own policies while calls run, until some time after; the slowest of these calls. */
async function measureActivation(site: Site, size: RuleSetSize, operations: number): Promise<Activation> {
  const { server } = site;
  // Once over all tools, so that each is known to the service.
  await runCalls(site, Math.max(operations, size.tools));
  const before = await runCalls(site, operations);
  const operator = await HttpClient.open(server.url);
  const own = { ...size, policies: size.policies - SMALL.policies };
  const body = JSON.stringify({ text: policyText('tenant', own), note: 'benchmark' });
  const put = buildRequest(server.url, 'PUT', '/v1/policies', server.tokens.OPERATOR, body);
  const peak = watchMemory(server);
  const startedAt = performance.now();
  let answeredAfterMs: number | undefined;
  const activated = operator.send(put).then(({ status, body: answer }) => {
    if (status !== 200) throw new Error(`PUT /v1/policies answered ${status}: ${answer.slice(0, 2000)}`);
    answeredAfterMs = performance.now() - startedAt;
  });
  const latencies: number[] = [];
  const runUntilActive = async (): Promise<void> => {
    while (answeredAfterMs === undefined)
      latencies.push(...(await runCalls(site, REQUESTS_AFTER / 4)).latencies);
  };
  await Promise.all([activated, runUntilActive()]);
  latencies.push(...(await runCalls(site, REQUESTS_AFTER)).latencies);
  operator.close();
  return {
    seconds: (answeredAfterMs ?? 0) / 1000,
    p50Ms: median(before.latencies),
    slowestMs: Math.max(...latencies),
    peakMb: await peak.stop(),
  };
}

function watchMemory(server: ServerProcess): { stop(): Promise<number> } {
  let peakMb = 0;
  let isWatching = true;
  const watch = async (): Promise<void> => {
    while (isWatching) {
      peakMb = Math.max(peakMb, await server.readResidentMb());
      await new Promise((resolve) => setTimeout(resolve, MEMORY_SAMPLE_MS));
    }
  };
  const watching = watch();
  return {
    stop: async () => {
      isWatching = false;
      await watching;
      return peakMb;
    },
  };
}

/**
 * A large set against a small one. The large one is activated by an operator while calls run; then both are called in
 * turn, round after round, and at last the memory of the service with the large one is read.
 */
export async function measureScale(size: RuleSetSize, rounds: number, operations: number): Promise<Scale> {
  const large = await openSite({ policies: SMALL.policies, tools: size.tools });
  try {
    const activation = await measureActivation(large, size, operations);
    const small = await openSite(SMALL);
    try {
      // The clients of the large one waited meanwhile, and no server keeps a connection without requests.
      await reconnect(large);
      await runCalls(large, Math.max(operations, size.tools));
      await runCalls(small, operations);
      const authorize = await compare(
        rounds,
        () => runCalls(large, operations),
        () => runCalls(small, operations),
      );
      return { size, authorize, activation, residentMb: await large.server.readResidentMb() };
    } finally {
      await small.close();
    }
  } finally {
    await large.close();
  }
}
