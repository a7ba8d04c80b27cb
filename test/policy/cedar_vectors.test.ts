import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaToJson } from '@cedar-policy/cedar-wasm/nodejs';
import { expect, test } from 'vitest';
import { type CedarCall, evaluate, preparePolicies, splitPolicies } from '../../src/policy/cedar.ts';

interface VectorCase {
  name: string;
  policies: string;
  schema: string;
  entities: CedarCall['entities'];
  requests: (CedarCall & { decision: string; reason: string[]; errors: string[] })[];
}

const vectors = join(import.meta.dirname, '../vectors/cedar');

/** The test whose entity holds an integer that JavaScript rounds: its eight requests fail, and so are denied. */
const ROUNDED_REQUESTS = 8;

test('cedar answers its integration tests through the service call as they say', () => {
  expect(countRequests('integration-tests.json')).toEqual({ agreeing: 74, failed: 0, differing: [] });
});

test('cedar answers its generated corpus through the service call as it says', () => {
  const counted = countRequests('corpus-sample.json');

  expect(counted).toEqual({ agreeing: 2392 - ROUNDED_REQUESTS, failed: ROUNDED_REQUESTS, differing: [] });
});

function countRequests(file: string) {
  const { cases } = JSON.parse(readFileSync(join(vectors, file), 'utf8')) as { cases: VectorCase[] };
  const counted = { agreeing: 0, failed: 0, differing: [] as string[] };
  for (const one of cases) {
    const prepared = preparePolicies(one.name, policiesInFileOrder(one.policies));
    expect(prepared.kind).toBe('ok');
    const entities = withActionGroups(one);
    for (const [index, { principal, action, resource, context, ...expected }] of one.requests.entries()) {
      const answer = evaluate(one.name, { principal, action, resource, context, entities });
      if (answer.kind === 'failed') counted.failed += 1;
      else if (agrees(answer, expected)) counted.agreeing += 1;
      else counted.differing.push(`${one.name} request ${index}`);
    }
  }
  return counted;
}

function agrees(
  answer: { decision: string; reason: string[]; errors?: string[] },
  expected: { decision: string; reason: string[]; errors: string[] },
): boolean {
  const errors = answer.errors ?? [];
  return (
    answer.decision === expected.decision &&
    answer.reason.join() === expected.reason.toSorted().join() &&
    errors.join() === expected.errors.toSorted().join()
  );
}

/** The suites name policies by their place in the text; Cedar hands the parts out in an order of its own. */
function policiesInFileOrder(text: string): Record<string, string> {
  const parts = splitPolicies(text);
  if (parts.kind === 'faults') throw new TypeError('a vector does not parse');
  const ordered = parts.value.policies.toSorted((a, b) => text.indexOf(a) - text.indexOf(b));
  return Object.fromEntries(ordered.map((part, index) => [`policy${index}`, part]));
}

/** The groups of actions stand in the schema alone; the service hands them over as entities. */
function withActionGroups(one: VectorCase): CedarCall['entities'] {
  const entities = one.entities.map((entity) => ({
    ...entity,
    attrs: withReferences(entity.attrs) as typeof entity.attrs,
  }));
  const given = new Set(entities.map(({ uid }) => JSON.stringify(uid)));
  const schema = schemaToJson(one.schema);
  if (schema.type === 'failure') return entities;
  const actions = Object.entries(schema.json).flatMap(([namespace, { actions: declared }]) =>
    Object.entries(declared).map(([id, { memberOf }]) => ({
      uid: actionUid(namespace, id),
      attrs: {},
      parents: (memberOf ?? []).map((group) => ({
        type: group.type ?? actionUid(namespace, '').type,
        id: group.id,
      })),
    })),
  );
  return [...entities, ...actions.filter(({ uid }) => !given.has(JSON.stringify(uid)))];
}

function actionUid(namespace: string, id: string) {
  return { type: namespace === '' ? 'Action' : `${namespace}::Action`, id };
}

/** An entity is named in an attribute as `{type, id}` where a schema says so; without one it needs its mark. */
function withReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withReferences);
  if (typeof value !== 'object' || value === null || '__entity' in value || '__extn' in value) return value;
  if (Object.keys(value).toSorted().join() === 'id,type') return { __entity: value };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withReferences(inner)]));
}
