import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { parseMcpManifest, toOperation } from '../../src/policy/mcp_manifest.ts';

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };

function imported(tool: JsonObject) {
  const parsed = parseMcpManifest({ tools: [{ name: 'do', ...tool }] });
  if (parsed.kind === 'refused') throw new Error(parsed.issues.join());
  const [only] = parsed.manifest.tools;
  if (only === undefined) throw new Error('no tool');
  return toOperation(only);
}

describe('facts come from hints alone, whatever a tool is called', () => {
  const mutating = { mutates_state: true, idempotent: false, destructive: true };
  const reading = { mutates_state: false, idempotent: true, destructive: false };
  test.each<[name: string, annotations: JsonObject | null | undefined, facts: JsonObject]>([
    ['get_user', undefined, mutating],
    ['read_file', null, mutating],
    ['list', {}, mutating],
    ['list', { title: 'Lists', openWorldHint: false }, mutating],
    ['delete_all', { readOnlyHint: true }, reading],
    ['look', { readOnlyHint: true, idempotentHint: false }, reading],
    ['look', { readOnlyHint: false }, mutating],
    ['set', { destructiveHint: false }, { ...mutating, destructive: false }],
    [
      'set',
      { destructiveHint: false, idempotentHint: true },
      { ...mutating, destructive: false, idempotent: true },
    ],
    ['set', { idempotentHint: true }, { ...mutating, idempotent: true }],
    ['set', { destructiveHint: true, idempotentHint: false }, mutating],
    ['both', { readOnlyHint: true, destructiveHint: true }, mutating],
    ['both', { readOnlyHint: true, destructiveHint: true, idempotentHint: true }, mutating],
  ])('%s %j', (name, annotations, facts) => {
    const tool = { name, inputSchema: SCHEMA, ...(annotations === undefined ? {} : { annotations }) };
    expect(imported(tool)).toMatchObject({ action: name, members: { ...facts, parameters_schema: SCHEMA } });
  });

  test('a hint that is no boolean is refused rather than read as one', () => {
    const tools = [{ name: 'a', annotations: { readOnlyHint: 'true' } }];
    expect(parseMcpManifest({ tools })).toEqual({
      kind: 'refused',
      issues: [expect.stringContaining('`/tools/0/annotations/readOnlyHint`')],
    });
  });
});

describe('a parameter that holds a command', () => {
  const withParameters = (properties: JsonObject) =>
    imported({ inputSchema: { type: 'object', properties } });

  test.each(['command', 'cmd', 'script', 'code'])('%s is marked, and told', (name) => {
    const { members, notes } = withParameters({ [name]: { type: 'string' } });
    expect(members.command_parameter).toBe(name);
    expect(notes.join()).toContain(`\`${name}\` is taken to hold a command line`);
  });

  test('is none when it is no string, or called otherwise', () => {
    const { members } = withParameters({ code: { type: 'integer' }, comment: { type: 'string' } });
    expect(members).not.toHaveProperty('command_parameter');
  });

  test('beside another is told: only one can be marked', () => {
    const { members, notes } = withParameters({ script: { type: 'string' }, cmd: { type: 'string' } });
    expect(members.command_parameter).toBe('cmd');
    expect(notes.join()).toContain('`script` may hold one too');
  });
});

describe('a manifest', () => {
  const tools = [{ name: 'a', inputSchema: SCHEMA, description: 'x', _meta: {}, outputSchema: {} }];

  test.each([
    ['the result', { tools, later: 1 }],
    ['the answer', { jsonrpc: '2.0', id: 1, result: { tools } }],
    ['the list', tools],
  ])('is read as %s', (_, value) => {
    expect(parseMcpManifest(value)).toMatchObject({
      kind: 'manifest',
      manifest: { tools: [{ name: 'a', inputSchema: SCHEMA }], serverName: null, goesOn: false },
    });
  });

  test.each([
    ['serverInfo', { serverInfo: { name: 'git' }, name: 'other', tools }],
    ['name', { name: 'git', tools }],
    ['serverInfo in the result', { result: { serverInfo: { name: 'git', version: '1' }, tools } }],
  ])('names its server by %s', (_, value) => {
    expect(parseMcpManifest(value)).toMatchObject({ manifest: { serverName: 'git' } });
  });

  test('that is one page of several says so', () => {
    expect(parseMcpManifest({ tools, nextCursor: 'x' })).toMatchObject({ manifest: { goesOn: true } });
  });

  test.each([null, 1, 'x', {}, { tools: {} }, { tools: [1] }, { tools: [{}] }, { result: [] }])(
    'is not %j',
    (value) => {
      expect(parseMcpManifest(value).kind).toBe('refused');
    },
  );

  test.each([
    ['a control character', ['a\u001b[2J'], 'its name has a control'],
    ['no character', [''], 'its name is empty'],
    ['a reserved member', ['__proto__'], 'its name is reserved'],
    ['one name', ['Get', 'get'], 'is that of `Get`'],
    ['another form of one name', ['get', '%67et'], 'is that of `get`'],
  ])('whose tools have %s is refused with the tool', (_, names, why) => {
    const parsed = parseMcpManifest(names.map((name) => ({ name })));
    expect(parsed).toEqual({ kind: 'refused', issues: [expect.stringContaining(why)] });
  });
});

test('the dialect that older generators name is dropped, and told; another stays for the loader to refuse', () => {
  const old = imported({ inputSchema: { ...SCHEMA, $schema: 'http://json-schema.org/draft-07/schema#' } });
  expect(old.members.parameters_schema).toEqual(SCHEMA);
  expect(old.notes.join()).toContain('2020-12');
  const other = { ...SCHEMA, $schema: 'https://example.com/mine' };
  expect(imported({ inputSchema: other }).members.parameters_schema).toEqual(other);
});

test('a tool without a schema says that its parameters are not seen', () => {
  const { members, notes } = imported({});
  expect(members).not.toHaveProperty('parameters_schema');
  expect(notes.join()).toContain('neither checked nor shown');
});
