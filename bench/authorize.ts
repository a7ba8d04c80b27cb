import { buildRequest, type HttpClient } from './http_client.ts';
import { type Comparison, compare, runLoad } from './load.ts';
import { ECHO_PATH } from './server_process.ts';
import { authorizeBody, CONCURRENCY, type World } from './world.ts';

const AMOUNT = 1200;
const BODY = authorizeBody(AMOUNT);
/** All amounts that are allowed. For two agents they are more calls than the service remembers answers. */
const AMOUNTS = 5000;

async function countDecisions({ sql }: World): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from decisions where decision = 'allow'`;
  return row?.count ?? 0;
}

function buildAuthorize({ server }: World, token: string, amount: number): Buffer {
  return buildRequest(server.url, 'POST', '/v1/authorize', token, authorizeBody(amount));
}

/** The same call each time. */
function repeatCall(world: World): () => Buffer {
  const request = buildAuthorize(world, world.server.tokens.AGENT, AMOUNT);
  return () => request;
}

async function makeAgent({ server, clients }: World, principal: string): Promise<string> {
  const wanted = JSON.stringify({ principal, roles: ['agent'] });
  const request = buildRequest(server.url, 'POST', '/v1/keys', server.tokens.OPERATOR, wanted);
  const { status, body } = await (clients[0] as HttpClient).send(request);
  if (status !== 201) throw new Error(`the key was answered ${status}: ${body}`);
  return (JSON.parse(body) as { key: string }).key;
}

/** Another call each time, until all were made: then the first is long forgotten. */
async function varyCalls(world: World): Promise<() => Buffer> {
  const tokens = [world.server.tokens.AGENT, await makeAgent(world, 'agent-2')];
  const requests = tokens.flatMap((token) =>
    Array.from({ length: AMOUNTS }, (_, index) => buildAuthorize(world, token, index + 1)),
  );
  let made = 0;
  return () => {
    made += 1;
    return requests[made % requests.length] as Buffer;
  };
}

/** Asks many times for calls that are allowed; every answer must be an allow, and every one a row afterwards. */
export async function runAuthorizes(world: World, operations: number, nextCall = repeatCall(world)) {
  const { clients } = world;
  const before = await countDecisions(world);
  const result = await runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: async (_, worker) => {
      const { status, body } = await (clients[worker] as HttpClient).send(nextCall());
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

export interface AuthorizeCost {
  /** The same call again and again, of which Cedar's answer is remembered. */
  same: Comparison;
  /** Calls of which none is like one that is remembered. */
  different: Comparison;
}

/** Authorize (allow, with its durable row) against the bare echo. */
export async function measureAuthorize(
  world: World,
  rounds: number,
  operations: number,
): Promise<AuthorizeCost> {
  const anotherCall = await varyCalls(world);
  const echo = () => runEchoes(world, operations * 3);
  await runEchoes(world, operations);
  await runAuthorizes(world, operations);
  const same = await compare(rounds, () => runAuthorizes(world, operations), echo);
  await runAuthorizes(world, operations, anotherCall);
  const different = await compare(rounds, () => runAuthorizes(world, operations, anotherCall), echo);
  return { same, different };
}
