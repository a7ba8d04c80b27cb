import { buildRequest, type HttpClient } from './http_client.ts';
import { type Comparison, compare, runLoad } from './load.ts';
import { ECHO_PATH } from './server_process.ts';
import { authorizeBody, CONCURRENCY, type World } from './world.ts';

const BODY = authorizeBody(1200);

async function countDecisions({ sql }: World): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from decisions where decision = 'allow'`;
  return row?.count ?? 0;
}

/** Asks many times for a call that is allowed; every answer must be an allow, and every one a row afterwards. */
export async function runAuthorizes(world: World, operations: number) {
  const { server, clients } = world;
  const request = buildRequest(server.url, 'POST', '/v1/authorize', server.tokens.AGENT, BODY);
  const before = await countDecisions(world);
  const result = await runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: async (_, worker) => {
      const { status, body } = await (clients[worker] as HttpClient).send(request);
      if (status !== 200 || !body.includes('"decision":"allow"'))
        throw new Error(`authorize answered ${status}: ${body}`);
    },
  });
  const written = (await countDecisions(world)) - before;
  if (written !== operations)
    throw new Error(`${operations} allows were answered, but ${written} are in the database`);
  return result;
}

/** The same bodies, echoed. */
export async function runEchoes({ server, clients }: World, operations: number) {
  const request = buildRequest(server.url, 'POST', ECHO_PATH, server.tokens.AGENT, BODY);
  return runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: async (_, worker) => {
      const { status, body } = await (clients[worker] as HttpClient).send(request);
      if (status !== 200 || body !== BODY) throw new Error(`echo answered ${status}: ${body}`);
    },
  });
}

/** Authorize (allow, with its durable row) against the bare echo. */
export async function measureAuthorize(
  world: World,
  rounds: number,
  operations: number,
): Promise<Comparison> {
  await runEchoes(world, operations);
  await runAuthorizes(world, operations);
  return compare(
    rounds,
    () => runAuthorizes(world, operations),
    () => runEchoes(world, operations * 3),
  );
}
