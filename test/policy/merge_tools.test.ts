import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { mergeTools } from '../../src/policy/merge_tools.ts';
import { parseToolRegistration } from '../../src/policy/tool_registration.ts';

const schema = { type: 'object', properties: { verb: { type: 'string' } } };
const base: JsonObject = {
  tool: 'db',
  action: 'run',
  mutates_state: true,
  idempotent: true,
  aliases: ['sql/query'],
  parameters_schema: schema,
  facts_by: { parameter: 'verb', values: { select: { mutates_state: false }, drop: { destructive: true } } },
};

function merge(own: JsonObject, known: JsonObject = base) {
  const { tools, problems } = mergeTools(
    [known],
    [{ tool: 'DB', action: ' run', mutates_state: true, ...own }],
  );
  return { tool: tools[0], count: tools.length, problems };
}

describe('a tenant’s word on a base tool', () => {
  test('leaves what it does not name, under the base tool’s own name', () => {
    const { tool, count, problems } = merge({ idempotent: true });

    expect(problems).toEqual([]);
    expect(count).toBe(1);
    expect(tool).toMatchObject({
      tool: 'db',
      action: 'run',
      aliases: ['sql/query'],
      parameters_schema: schema,
    });
  });

  test('takes the strictest of both facts', () => {
    const { tool } = merge({ requires_approval: true });

    expect(tool).toMatchObject({
      mutates_state: true,
      idempotent: false,
      destructive: false,
      requires_approval: true,
    });
    expect(merge({ mutates_state: false, idempotent: true }).tool).toMatchObject({ mutates_state: true });
  });

  test('holds for every value that the facts depend on, as it would alone', () => {
    expect(merge({ requires_approval: true }).tool?.facts_by?.values).toEqual({
      select: { mutates_state: true, idempotent: false, destructive: false, requires_approval: true },
      drop: { mutates_state: true, idempotent: false, destructive: true, requires_approval: true },
    });
    expect(
      merge({ requires_approval: true, idempotent: true, facts_by: base.facts_by ?? null }).tool?.facts_by
        ?.values,
    ).toMatchObject({ select: { mutates_state: false, idempotent: true, requires_approval: true } });
  });

  test.each<[known: string[], own: string[], expected: string[]]>([
    [[], ['verb'], ['verb']],
    [['verb'], [], ['verb']],
    [['verb'], ['verb'], ['verb']],
    [['verb'], ['key'], ['key', 'verb']],
  ])('adds to the secret parameters %j those of %j: they are %j', (known, own, expected) => {
    const { tool, problems } = merge({ secret_parameters: own }, { ...base, secret_parameters: known });

    expect(problems).toEqual([]);
    expect(tool?.secret_parameters).toEqual(expected);
  });

  test.each<[string | null, string | null, string | null]>([
    [null, 'ask', 'ask'],
    [null, 'deny', 'deny'],
    ['ask', 'deny', 'deny'],
    ['allow', 'ask', 'ask'],
    ['allow', 'allow', 'allow'],
    ['ask', null, 'ask'],
    ['allow', null, 'allow'],
  ])('tightens the permission %j with %j to %j', (known, own, expected) => {
    const { tool, problems } = merge({ permission: own }, { ...base, permission: known });

    expect(problems).toEqual([]);
    expect(tool?.permission).toBe(expected);
  });

  test.each([
    [null, 'allow'],
    ['ask', 'allow'],
    ['deny', 'ask'],
  ])('cannot loosen the permission %j to %j', (known, own) => {
    const { tool, problems } = merge({ permission: own }, { ...base, permission: known });

    expect(problems).toMatchObject([{ pointer: '/permission' }]);
    expect(tool?.permission).toBe(known);
  });

  test.each<[string, JsonObject]>([
    ['aliases', { aliases: ['x/y'] }],
    ['parameters_schema', { parameters_schema: { type: 'object' } }],
    ['facts_by', { facts_by: { parameter: 'verb', values: {} } }],
    ['path_parameters', { path_parameters: ['verb'] }],
    ['host_parameters', { host_parameters: ['verb'] }],
    ['workspace_root', { workspace_root: '/repo' }],
    ['command_parameter', { command_parameter: 'verb' }],
    ['argv_parameter', { argv_parameter: 'verb' }],
  ])('cannot change `%s`, but may repeat it', (member, own) => {
    const { tool, problems } = merge(own);
    const [unchanged] = mergeTools([base], []).tools;

    expect(problems).toMatchObject([{ pointer: `/${member}`, help: expect.stringContaining('tightened') }]);
    if (member !== 'facts_by')
      expect(tool).toEqual({ ...unchanged, idempotent: false, facts_by: tool?.facts_by });
    expect(merge(member in base ? { [member]: base[member] ?? null } : {}).problems).toEqual([]);
    expect(merge(own, { ...base, ...own }).problems).toEqual([]);
  });
});

test('a tenant’s own tool is one more, and one that is said twice stays twice for the registry to refuse', () => {
  const own = { tool: 't', action: 'a', mutates_state: false };

  expect(mergeTools([base], [own]).tools).toHaveLength(2);
  expect(mergeTools([base], [own, own]).tools).toHaveLength(3);
  expect(
    mergeTools(
      [base],
      [
        { ...own, tool: 'db', action: 'run' },
        { ...own, tool: 'db', action: 'run' },
      ],
    ).tools,
  ).toHaveLength(2);
});

describe('a registration', () => {
  const body: JsonObject = { tool: 't', action: 'a', mutates_state: true };

  test('takes what is left out as false, empty or null', () => {
    expect(parseToolRegistration(body)).toEqual({
      kind: 'tool',
      tool: {
        ...body,
        idempotent: false,
        destructive: false,
        requires_approval: false,
        permission: null,
        aliases: [],
        parameters_schema: null,
        facts_by: null,
        secret_parameters: [],
        path_parameters: [],
        host_parameters: [],
        workspace_root: null,
        command_parameter: null,
        argv_parameter: null,
      },
    });
  });

  test.each<[JsonObject, string]>([
    [{ tool: 't', action: 'a' }, '/mutates_state'],
    [{ ...body, destructive: 'yes' }, '/destructive'],
    [{ ...body, permission: 'never' }, '/permission'],
    [{ ...body, aliases: [1] }, '/aliases/0'],
    [{ ...body, parameters_schema: [] }, '/parameters_schema'],
    [{ ...body, facts_by: { parameter: 'p' } }, '/facts_by/values'],
    [
      { ...body, facts_by: { parameter: 'p', values: { 'a/b': { destroys: true } } } },
      '/facts_by/values/a~1b/destroys',
    ],
    [{ ...body, secret_parameter: 'x' }, '/secret_parameter'],
    [
      { ...body, facts_by: { parameter: 'p', values: { a: { idempotent: null } } } },
      '/facts_by/values/a/idempotent',
    ],
  ])('%j is refused at %s', (value, pointer) => {
    expect(parseToolRegistration(value)).toMatchObject({ kind: 'refused', issues: [{ pointer }] });
    expect(mergeTools([], [value]).problems).toMatchObject([{ pointer }]);
  });
});
