import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { ToolRegistration } from '../../src/core/tool_registration.ts';
import { buildRegistry, openRegistry, type Registry } from '../../src/policy/registry.ts';
import { registration } from './support.ts';

const TOOLS: ToolRegistration[] = [
  registration('crm', 'read', {
    mutates_state: false,
    aliases: ['CRM/Get'],
    parameters_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    secret_parameters: ['id'],
  }),
  registration('a.b', 'c', { permission: 'ask' }),
];
const PERMISSIONS = [
  { pattern: 'a%2Eb.*', permission: 'deny' as const },
  { pattern: 'github.*', permission: 'deny' as const },
];
const NAMES = [
  ['crm', 'read'],
  [' CRM', 'g%65t'],
  ['a.b', 'c'],
  ['github', 'merge'],
  ['x', 'y'],
  ['\u200b', 'y'],
] as const;

/** What a resolution says, without the functions in it. */
function told(registry: Registry, [tool, action]: readonly [string, string]) {
  return JSON.parse(JSON.stringify(registry.resolve(tool, action)));
}

test('a registry that is opened says of every name what the checked one says', () => {
  const { registry, problems } = buildRegistry(TOOLS, PERMISSIONS);
  const opened = openRegistry(TOOLS, PERMISSIONS);

  expect(problems).toEqual([]);
  for (const names of NAMES) expect(told(opened, names)).toEqual(told(registry, names));
  expect(told(opened, ['a.b', 'c']).operation.permission).toBe('ask');
  expect(told(opened, ['github', 'merge']).operation.permission).toBe('deny');
});

describe('an opened registry', () => {
  test('makes an operation once, for all its names', () => {
    const opened = openRegistry(TOOLS, []);
    const [first, second] = [opened.resolve('crm', 'read'), opened.resolve('CRM', 'get')];

    expect(first).toMatchObject({ kind: 'registered' });
    expect('operation' in first && 'operation' in second && first.operation === second.operation).toBe(true);
  });

  test('compiles the schema of a tool that is called, and of no other', () => {
    const broken = registration('t', 'broken', { parameters_schema: { type: 'object', nonsense: true } });
    const opened = openRegistry([...TOOLS, broken], []);

    expect(opened.resolve('crm', 'read')).toMatchObject({ kind: 'registered' });
    expect(() => opened.resolve('t', 'broken')).toThrow(/nonsense/);
  });

  test('checks each of several schemas that refer to themselves by itself', () => {
    const schemaOf = (name: string, type: string) => ({
      type: 'object',
      properties: { next: { $ref: '#' }, [name]: { type } },
    });
    const tools = [
      registration('t', 'one', { parameters_schema: schemaOf('x', 'string') }),
      registration('t', 'two', { parameters_schema: schemaOf('y', 'integer') }),
    ];
    for (const registry of [buildRegistry(tools).registry, openRegistry(tools, [])]) {
      const check = (action: string, parameters: JsonObject) => {
        const resolved = registry.resolve('t', action);
        return resolved.kind === 'registered' ? resolved.operation.checkParameters(parameters) : null;
      };

      expect(check('two', { next: { next: { y: 1 } } })).toBeUndefined();
      expect(check('one', { next: { next: { x: 'a' } } })).toBeUndefined();
      expect(check('one', { next: { next: { y: 1 } } })).toMatchObject({ pointer: '/next/next/y' });
      expect(check('two', { next: { x: 'a' } })).toMatchObject({ pointer: '/next/x' });
    }
  });

  test('opens a thousand tools in the time that checking a few takes', () => {
    const schema = { type: 'object', properties: { id: { type: 'string', pattern: '^[a-z]+$' } } };
    const tools = Array.from({ length: 1_000 }, (_, index) =>
      registration('tool', `action ${index}`, { parameters_schema: schema }),
    );
    const time = (run: () => unknown) => {
      const start = performance.now();
      run();
      return performance.now() - start;
    };
    openRegistry(tools, []);

    expect(time(() => openRegistry(tools, []))).toBeLessThan(
      time(() => buildRegistry(tools.slice(0, 100), [])),
    );
  });
});

describe('registrations are refused at their place for', () => {
  const text = { type: 'string' };
  const schema = {
    type: 'object',
    properties: { path: text, n: { type: 'integer' }, maybe: { type: ['string', 'null'] } },
  };
  test.each<[string, Partial<ToolRegistration>, string]>([
    ['a secret that is not declared', { secret_parameters: ['path', 'pin'] }, '/secret_parameters/1'],
    ['a secret that is named twice', { secret_parameters: ['path', 'path'] }, '/secret_parameters/1'],
    ['a path that is no text', { path_parameters: ['n'] }, '/path_parameters/0'],
    ['a host that is no text', { host_parameters: ['maybe', 'n'] }, '/host_parameters/1'],
    ['a path named like a member of every object', { path_parameters: ['toString'] }, '/path_parameters/0'],
    ['a relative workspace', { workspace_root: 'work' }, '/workspace_root'],
    ['a workspace with a step up', { workspace_root: '/repo/../x' }, '/workspace_root'],
    ['a command that is no text', { command_parameter: 'n' }, '/command_parameter'],
    ['an alias that is no name', { aliases: ['t/b', 'nothing'] }, '/aliases/1'],
    ['an alias that is its own name', { aliases: ['T/A'] }, '/aliases/0'],
    ['a name that hides', { tool: 't\u202e' }, '/tool'],
    ['a fault in its schema', { parameters_schema: { ...schema, x: 1 } }, '/parameters_schema/x'],
  ])('%s', (_, members, pointer) => {
    const tool = registration('t', 'a', { parameters_schema: schema, ...members });

    expect(buildRegistry([tool]).problems).toMatchObject([{ pointer, help: expect.stringMatching(/\S/) }]);
  });

  test('a secret of any form, a path and a host that may be null, none', () => {
    const marks = { secret_parameters: ['n'], path_parameters: ['path'], host_parameters: ['maybe'] };

    expect(buildRegistry([registration('t', 'a', { parameters_schema: schema, ...marks })]).problems).toEqual(
      [],
    );
  });
});
