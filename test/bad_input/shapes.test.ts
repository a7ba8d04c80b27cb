import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyRoute } from '../../src/http/route.ts';
import { mutationsOf } from './mutations.ts';
import { expectAnswered, expectProblem, seen } from './refusal.ts';
import { BODY_ROUTES, callRoute, digestTables, startWorld, validBody, type World } from './world.ts';

let world: World;
let ajv: Ajv2020;
beforeAll(async () => {
  world = await startWorld();
  const { body } = await world.service.anonymous.get('/openapi.json');
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(body, 'openapi');
});
afterAll(() => world.service.close());

/** Whether the served document says that a route takes a body of this shape. */
function isDocumented({ path, method }: AnyRoute, body: unknown): boolean {
  const template = path.replaceAll(/:([a-z_]+)/g, '%7B$1%7D').replaceAll('/', '~1');
  const validate = ajv.getSchema(
    `openapi#/paths/${template}/${method}/requestBody/content/application~1json/schema`,
  );
  if (validate === undefined) throw new Error(`${path} documents no body`);
  return validate(body) === true;
}

describe.each(BODY_ROUTES.map((route) => ({ name: route.operationId, route })))('$name', ({ route }) => {
  it('has a valid body in this battery', () => {
    expect(isDocumented(route, validBody(route))).toBe(true);
  });

  it('refuses each member of a wrong type, each absent and each unknown one, and writes nothing', async () => {
    const mutations = mutationsOf(validBody(route)).filter(({ body }) => !isDocumented(route, body));
    expect(mutations.length).toBeGreaterThan(8);
    const before = await digestTables(world);
    for (const { what, body } of mutations) {
      const answer = await callRoute(world, route, { body });
      expect(expectProblem(seen(answer), what), what).toBe('invalid_request');
      expect(answer.body.errors, what).not.toEqual([]);
    }
    expect(await digestTables(world)).toEqual(before);
  });

  it('answers what the document allows, and never fails on it', async () => {
    const mutations = mutationsOf(validBody(route)).filter(({ body }) => isDocumented(route, body));
    for (const { what, body } of mutations) {
      expectAnswered(seen(await callRoute(world, route, { body })), what);
    }
    expect(world.service.logged).toEqual([]);
  });
});
