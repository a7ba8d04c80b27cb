import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizeRoute } from '../../src/http/routes/authorize.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { expectAnswered, expectProblem, seen } from './refusal.ts';
import { arbitraryOf, type JsonSchema } from './schema_arbitrary.ts';
import { BODY_ROUTES, callRoute, digestTables, pathOf, startWorld, validBody, type World } from './world.ts';

interface Operation {
  parameters?: { name: string; in: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

let world: World;
let document: {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
};
beforeAll(async () => {
  world = await startWorld();
  document = (await world.service.anonymous.get('/openapi.json')).body;
});
afterAll(() => world.service.close());

const SECONDS_MAX = 120;
/** Random and yet the same in each run, so that a failure can be looked at. */
const SEED = 20_260_101;

describe.each(BODY_ROUTES.map((route) => ({ name: route.operationId, route })))('$name', ({ route }) => {
  it('refuses any json that is not its body, and writes nothing', {
    timeout: SECONDS_MAX * 1000,
  }, async () => {
    const before = await digestTables(world);
    await fc.assert(
      // The member makes sure that no body is a valid one by chance.
      fc.asyncProperty(fc.object({ maxDepth: 5, withBigInt: false }), async (value) => {
        const rawBody = JSON.stringify({ ...value, 'no member': value });
        const answer = await callRoute(world, route, { options: { rawBody } });
        expect(['invalid_request', 'invalid_json']).toContain(expectProblem(seen(answer), rawBody));
      }),
      { numRuns: 40, seed: SEED },
    );
    expect(await digestTables(world)).toEqual(before);
  });

  it('refuses or reads any bytes', { timeout: SECONDS_MAX * 1000 }, async () => {
    const valid = JSON.stringify(validBody(route));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(valid.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 4 }),
        async (at, noise) => {
          const rawBody = Uint8Array.from([
            ...Buffer.from(valid.slice(0, at)),
            ...noise,
            ...Buffer.from(valid.slice(at + 1)),
          ]);
          expectAnswered(seen(await callRoute(world, route, { options: { rawBody } })), `${at} ${noise}`);
        },
      ),
      { numRuns: 40, seed: SEED },
    );
    expect(world.service.logged).toEqual([]);
  });
});

describe('authorize', () => {
  const TOOLS = [
    ['stripe', 'refund'],
    ['crm', 'read_customer'],
    ['crm', 'delete_customer'],
    ['shell', 'exec'],
    ['files', 'write'],
    ['unknown', 'tool'],
  ] as const;

  it('decides or refuses any parameters of any tool', { timeout: SECONDS_MAX * 1000 }, async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const names = fc.constantFrom(
      'amount',
      'currency',
      'memo',
      'price',
      'customer_id',
      'command',
      'argv',
      'env',
      'file_digests',
      'path',
      'content',
    );
    const values = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      text,
      fc.double(),
      fc.dictionary(text, text),
      fc.array(text),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...TOOLS),
        fc.dictionary(names, values),
        text,
        async ([tool, action], parameters, resource) => {
          const body = {
            tool_call: { tool, action, resource: resource || null, mutates_state: true, parameters },
          };
          const answer = await callRoute(world, authorizeRoute, { body });
          expectAnswered(seen(answer), JSON.stringify(body));
        },
      ),
      { numRuns: 300, seed: SEED },
    );
    expect(world.service.logged).toEqual([]);
  });
});

describe.each(ROUTES.map((route) => ({ name: route.operationId, route })))(
  '$name, by its own document',
  ({ route }) => {
    it('answers what it says it takes, as it says it answers', { timeout: SECONDS_MAX * 1000 }, async () => {
      const operation = document.paths[route.path.replaceAll(/:([a-z_]+)/g, '{$1}')]?.[route.method];
      if (operation === undefined) throw new Error(`${route.operationId} is not in the document`);
      const bodySchema = operation.requestBody?.content['application/json']?.schema;
      const body = bodySchema === undefined ? fc.constant(undefined) : arbitraryOf(bodySchema, document);
      const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const query = fc.record(
        // A wait would be kept, and the walk is long.
        Object.fromEntries(
          queries
            .filter(({ name }) => name !== 'wait')
            .map(({ name, schema }) => [name, arbitraryOf(schema, document)]),
        ),
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(body, query, async (sent, parameters) => {
          const search = new URLSearchParams(
            Object.entries(parameters).map(([name, value]) => [name, String(value)]),
          );
          const path = `${pathOf(route, world)}?${search}`;
          // The client checks the answer against the document.
          expectAnswered(
            seen(await callRoute(world, route, { path, body: sent })),
            `${path} ${JSON.stringify(sent)}`,
          );
        }),
        { numRuns: 50, seed: SEED },
      );
      expect(world.service.logged).toEqual([]);
    });
  },
);
