import { describe, expect, test } from 'vitest';
import type { ToolRegistration } from '../../src/core/tool_registration.ts';
import { buildRegistry } from '../../src/policy/registry.ts';
import { listSliceTargets } from '../../src/policy/slice_targets.ts';
import { buildPolicySet } from './policy_sets.ts';
import { registration, request } from './support.ts';

const schema = { type: 'object', properties: { verb: { type: 'string' }, n: { type: 'integer' } } };

function multiplexer(members: Partial<ToolRegistration> = {}): ToolRegistration {
  return registration('db', 'run', {
    parameters_schema: schema,
    mutates_state: true,
    facts_by: {
      parameter: 'verb',
      values: {
        select: { mutates_state: false, idempotent: true },
        explain: { mutates_state: false },
        insert: {},
        drop: { destructive: true },
      },
    },
    ...members,
  });
}

/** Which groups a call is in, and which facts policy is told, as ids of the policies that apply. */
function appliedTo(parameters: Record<string, string | number>, tool = multiplexer()): string[] {
  const forbid = (id: string, group: string, condition = 'true') =>
    `@id("${id}") forbid (principal, action in Aegis::Action::"${group}", resource) when { ${condition} };`;
  const policies = {
    read: forbid('read', 'read'),
    write: forbid('write', 'write'),
    destroy: forbid('destroy', 'destroy'),
    idempotent: forbid('idempotent', 'invoke', 'context.tool.idempotent'),
    marked: forbid('marked', 'invoke', 'context.tool.requires_approval'),
    inside: forbid('inside', 'invoke', 'action in Aegis::Action::"destroy"'),
  };
  return buildPolicySet({ policies, tools: [tool] }).decide(request('db', 'run', parameters))
    .determiningPolicies;
}

describe('facts that depend on a parameter', () => {
  test.each([
    ['select', ['idempotent', 'read']],
    ['explain', ['read']],
    ['insert', ['write']],
    ['drop', ['destroy', 'inside', 'write']],
  ])('are those of the value `%s`', (verb, applied) => {
    expect(appliedTo({ verb })).toEqual(applied);
  });

  test.each([[{ verb: 'truncate' }], [{ verb: 'SELECT' }], [{ n: 1 }], [{ verb: 'constructor' }]])(
    'are the strictest for %j, which is not listed',
    (parameters) => {
      expect(appliedTo(parameters)).toEqual(['destroy', 'inside', 'marked', 'write']);
    },
  );

  test("take what a value does not name from the registration's own", () => {
    const tool = multiplexer({ requires_approval: true });

    expect(appliedTo({ verb: 'insert' }, tool)).toEqual(['marked', 'write']);
  });

  test('share a slice where they are in the same groups', () => {
    const { operations } = buildRegistry([multiplexer(), registration('a.b', 'c')]).registry;
    const targets = listSliceTargets(operations);

    expect(targets.filter(({ actionId }) => actionId === 'db.run')).toEqual([
      { sliceId: 'db.run%read', actionId: 'db.run', groups: ['read', 'invoke'], hasCommand: false },
      { sliceId: 'db.run%write', actionId: 'db.run', groups: ['write', 'invoke'], hasCommand: false },
      {
        sliceId: 'db.run%destroy',
        actionId: 'db.run',
        groups: ['write', 'destroy', 'invoke'],
        hasCommand: false,
      },
    ]);
    expect(new Set(targets.map(({ sliceId }) => sliceId)).size).toBe(targets.length);
    expect(targets.map(({ sliceId }) => sliceId)).toEqual(
      expect.arrayContaining(['a%2Eb.c', 'unregistered', 'ask', 'approve', 'widen', 'resume']),
    );
  });

  test.each<[string, Partial<ToolRegistration>, string]>([
    [
      'a parameter that is not declared',
      { facts_by: { parameter: 'verv', values: {} } },
      '/facts_by/parameter',
    ],
    ['a parameter that is no string', { facts_by: { parameter: 'n', values: {} } }, '/facts_by/parameter'],
    ['a tool without a schema', { parameters_schema: null }, '/facts_by/parameter'],
    [
      'a value that destroys and changes nothing',
      {
        facts_by: { parameter: 'verb', values: { 'a/b': { mutates_state: false, destructive: true } } },
      },
      '/facts_by/values/a~1b',
    ],
  ])('are refused with their place for %s', (_, members, pointer) => {
    expect(buildRegistry([multiplexer(members)]).problems).toMatchObject([{ pointer }]);
  });
});
