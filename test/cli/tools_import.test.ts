import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { aegis, type Folder, makeShop } from './support.ts';

let shop: Folder;
beforeEach(() => {
  shop = makeShop();
  vi.stubEnv('AEGIS_POLICY_DIR', shop.path);
});
afterEach(() => {
  vi.unstubAllEnvs();
  shop.remove();
});

const path = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const MANIFEST = {
  result: {
    serverInfo: { name: 'Git' },
    tools: [
      { name: 'git_log', inputSchema: path, annotations: { readOnlyHint: true } },
      { name: 'git_push', inputSchema: path },
      { name: 'run', inputSchema: { type: 'object', properties: { cmd: { type: 'string' } } } },
    ],
  },
};

function importManifest(manifest: unknown, ...args: string[]) {
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
  return aegis('tools', 'import', shop.write('manifest.json', text), ...args);
}

const toolFiles = (): string[] => readdirSync(join(shop.path, 'tools'));

describe('aegis tools import', () => {
  test('writes a tool file that loads, and tells facts, notes and what to do next', async () => {
    const { code, stdout, stderr } = await importManifest(MANIFEST);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const file = JSON.parse(readFileSync(join(shop.path, 'tools/git.json'), 'utf8'));
    expect(file).toMatchObject({
      tool: 'git',
      operations: {
        git_log: { mutates_state: false, idempotent: true, destructive: false, parameters_schema: path },
        git_push: { mutates_state: true, idempotent: false, destructive: true },
        run: { command_parameter: 'cmd' },
      },
    });
    expect(stdout).toMatch(/^operation +facts +notes\n/);
    expect(stdout).toMatch(/git_log +reads, idempotent\n/);
    expect(stdout).toMatch(/git_push +mutates, destructive +hints nothing: taken to change and to destroy\n/);
    expect(stdout).toMatch(/`cmd` is taken to hold a command line/);
    expect(stdout).toContain('Nothing is permitted by this: write policies for Aegis::Action::"git.git_log"');
    const validated = await aegis('policy', 'validate', shop.path);
    expect(validated.stdout).toContain('5 operations of 2 tools');
    expect(toolFiles()).toEqual(['git.json', 'shop.json']);
  });

  test('permits nothing', async () => {
    await importManifest(MANIFEST);
    const call = { tool: 'git', action: 'git_log', mutates_state: false, parameters: { path: 'x' } };
    const request = shop.write('request.json', JSON.stringify({ tool_call: call }));
    const { stdout } = await aegis('policy', 'explain', shop.path, '--request', request);
    expect(stdout).toMatch(/^deny\n/);
  });

  test('replaces no file unless told to, and then whole', async () => {
    await importManifest(MANIFEST);
    const before = readFileSync(join(shop.path, 'tools/git.json'), 'utf8');
    const fewer = { ...MANIFEST.result, tools: MANIFEST.result.tools.slice(0, 1) };
    const refused = await importManifest(fewer);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/git\.json` is there already\. Give `--force`/);
    expect(readFileSync(join(shop.path, 'tools/git.json'), 'utf8')).toBe(before);
    expect((await importManifest(fewer, '--force')).code).toBe(0);
    const { operations } = JSON.parse(readFileSync(join(shop.path, 'tools/git.json'), 'utf8'));
    expect(Object.keys(operations)).toEqual(['git_log']);
  });

  test('a schema that the loader refuses is told with its tool, and nothing is written', async () => {
    const bad = { ...path, properties: { path: { $ref: 'https://example.com/schema' } } };
    const tools = [...MANIFEST.result.tools, { name: 'odd', inputSchema: bad }];
    const { code, stdout, stderr } = await importManifest({ name: 'git', tools });
    expect(code).toBe(1);
    expect(stderr).toBe('nothing was written: with it the policies do not load\n');
    expect(stdout).toContain('odd');
    expect(stdout).toContain('parameters_schema');
    expect(toolFiles()).toEqual(['shop.json']);
  });

  test('a name that another file registers is refused, and nothing is written', async () => {
    const { code, stdout } = await importManifest(
      { name: 'x', tools: [{ name: 'order' }] },
      '--tool',
      'shop',
      '--out',
      join(shop.path, 'tools/other.json'),
    );
    expect(code).toBe(1);
    expect(stdout).toContain('already registered');
    expect(toolFiles()).toEqual(['shop.json']);
  });

  test('--tool names the tool, in lower case', async () => {
    expect((await importManifest(MANIFEST, '--tool', 'Vcs')).code).toBe(0);
    expect(toolFiles()).toEqual(['shop.json', 'vcs.json']);
  });

  test.each(['../evil', '/etc/x', '..', '.hidden', 'a/b', 'a\u001b[2J', '', 'a'.repeat(65)])(
    'a server called %j needs a name from the operator',
    async (name) => {
      const { code, stdout, stderr } = await importManifest({ name, tools: MANIFEST.result.tools });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^the server calls itself .*Name it with `--tool NAME`\n$/);
      expect(stderr).not.toContain('\u001b');
      expect(toolFiles()).toEqual(['shop.json']);
    },
  );

  test('--out puts the file elsewhere, and - prints it', async () => {
    const out = join(shop.path, 'else/where.json');
    expect((await importManifest(MANIFEST, '--out', out)).code).toBe(0);
    const printed = await importManifest(MANIFEST, '--out', '-');
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.stdout)).toEqual(JSON.parse(readFileSync(out, 'utf8')));
    expect(printed.stderr).toContain('Nothing is permitted by this');
    expect(toolFiles()).toEqual(['shop.json']);
  });

  test('--json tells the same as values', async () => {
    const { stdout } = await importManifest({ ...MANIFEST.result, nextCursor: 'more' }, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      tool: 'git',
      has_more: true,
      operations: [
        { action: 'git_log', cedar_action: 'git.git_log', mutates_state: false, command_parameter: null },
        { action: 'git_push', destructive: true },
        { action: 'run', command_parameter: 'cmd' },
      ],
    });
  });
});

describe('what is no manifest is refused in one line, and nothing is written:', () => {
  test.each<[what: string, manifest: unknown, why: string]>([
    ['no JSON', 'tools', 'syntax'],
    ['a member twice', '{"tools":[],"tools":[]}', 'duplicate_member'],
    ['something else', { hello: 1 }, '`/tools`'],
    ['no tool', { name: 'x', tools: [] }, 'lists no tool'],
    ['an escape in a name', { name: 'x', tools: [{ name: '\u001b[31m' }] }, 'its name has a control'],
    ['no name of the server', { tools: [{ name: 'a' }] }, 'Name it with `--tool NAME`'],
  ])('%s', async (_, manifest, why) => {
    const { code, stdout, stderr } = await importManifest(manifest);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('\u001b');
    expect(toolFiles()).toEqual(['shop.json']);
  });

  test('10,000 tools', async () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => ({
      name: `tool_${index}`,
      inputSchema: path,
    }));
    const started = performance.now();
    const { code, stderr } = await importManifest({ name: 'many', tools });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^10000 tools do not fit one tool file .*Import them in parts\n$/);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(toolFiles()).toEqual(['shop.json']);
  });

  test('a file that is missing, a folder, a loop, without end', async () => {
    symlinkSync('loop', join(shop.path, 'loop'));
    for (const name of [join(shop.path, 'none'), shop.path, join(shop.path, 'loop'), '/dev/zero']) {
      const { code, stdout, stderr } = await aegis('tools', 'import', name, '--tool', 'x');
      expect({ code, stdout }, name).toEqual({ code: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });
});

test('a policy folder that is missing is told before anything is made', async () => {
  vi.stubEnv('AEGIS_POLICY_DIR', join(shop.path, 'nowhere'));
  const { code, stderr } = await importManifest(MANIFEST);
  expect(code).toBe(2);
  expect(stderr).toContain('ENOENT');
  expect(existsSync(join(shop.path, 'nowhere'))).toBe(false);
});
