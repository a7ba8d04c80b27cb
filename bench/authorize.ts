import { buildRequest, type HttpClient } from './http_client.ts';
import { type Comparison, compare, runLoad } from './load.ts';
import { ECHO_PATH } from './server_process.ts';
import { authorizeBody, CONCURRENCY, type World } from './world.ts';

const AMOUNT = 1200;
const BODY = authorizeBody(AMOUNT);
/** So many amounts that are allowed: far more than there are answers that the service remembers. */
const AMOUNTS = 5000;

async function countDecisions({ sql }: World): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from decisions where decision = 'allow'`;
  return row?.count ?? 0;
}

function buildAuthorize({ server }: World, amount: number): Buffer {
  return buildRequest(server.url, 'POST', '/v1/authorize', server.tokens.AGENT, authorizeBody(amount));
}

/**
 * Asks many times for a call that is allowed, in turn for each of the amounts; every answer must be an allow, and every
 * one a row afterwards.
 */
export async function runAuthorizes(world: World, operations: number, amounts: readonly number[] = [AMOUNT]) {
  const { clients } = world;
  const requests = amounts.map((amount) => buildAuthorize(world, amount));
  const before = await countDecisions(world);
  const result = await runLoad({
    concurrency: CONCURRENCY,
    operations,
    run: async (operation, worker) => {
      const request = requests[operation % requests.length] as Buffer;
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

export interface AuthorizeCost {
  /** The same call again and again, of which Cedar's answer is remembered. */
  same: Comparison;
  /** Calls of which hardly any is like one that is remembered. */
  different: Comparison;
}

/** Authorize (allow, with its durable row) against the bare echo. */
export async function measureAuthorize(
  world: World,
  rounds: number,
  operations: number,
): Promise<AuthorizeCost> {
  const amounts = Array.from({ length: AMOUNTS }, (_, index) => index + 1);
  const echo = () => runEchoes(world, operations * 3);
  await runEchoes(world, operations);
  await runAuthorizes(world, operations);
  const same = await compare(rounds, () => runAuthorizes(world, operations), echo);
  await runAuthorizes(world, operations, amounts);
  const different = await compare(rounds, () => runAuthorizes(world, operations, amounts), echo);
  return { same, different };
}
