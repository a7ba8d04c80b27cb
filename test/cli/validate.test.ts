import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ALLOW, aegis, FORBID, type Folder, makeFolder, makeShop, TOOL } from './support.ts';

const folders: Folder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function folderWith(files: Record<string, string | Uint8Array>): Folder {
  const folder = makeFolder(files);
  folders.push(folder);
  return folder;
}

function shop(): Folder {
  const folder = makeShop();
  folders.push(folder);
  return folder;
}

describe('aegis policy validate', () => {
  test('says how many policies and tools a folder has, and its revision', async () => {
    const { path } = shop();
    const { code, stdout, stderr } = await aegis('policy', 'validate', path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^valid: \S+ has 3 policies, 2 operations of 1 tool\nrevision [0-9a-f]{64}\n$/);
    const json = await aegis('policy', 'validate', path, '--json');
    const revision = /revision (\w+)/.exec(stdout)?.[1];
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toEqual({
      valid: true,
      directory: path,
      revision,
      policies: 3,
      tools: 1,
      operations: 2,
      problems: [],
    });
  });

  test('shows where a policy is wrong: file, line, column, a caret under it, and the remedy', async () => {
    const folder = shop();
    folder.write('shop.cedar', ALLOW.replace('<= 100', '+ '));
    const { code, stdout, stderr } = await aegis('policy', 'validate', folder.path);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const [head, line = '', caret = ''] = stdout.split('\n');
    const [, lineNumber, column] =
      new RegExp(`^${folder.path}/shop.cedar:(\\d+):(\\d+): `).exec(head ?? '') ?? [];
    expect(lineNumber).toBe('4');
    expect(line.trim()).toBe('when { context.parameters.amount +  };');
    expect(caret.indexOf('^') - 4).toBe(Number(column) - 1);
    expect(stdout).toMatch(/\n1 problem\n$/);
  });

  test('tells every problem of every file, and how many', async () => {
    const folder = shop();
    folder.write('shop.cedar', ALLOW.replace('parameters.amount', 'parameters.amont'));
    folder.write('zz.cedar', FORBID.replace('context.parameters.amount', 'context.tol.registered'));
    const { code, stdout } = await aegis('policy', 'validate', folder.path);
    expect(code).toBe(1);
    expect(stdout).toContain('shop.cedar:4:');
    expect(stdout).toContain('policy `small-order-allowed`');
    expect(stdout).toContain('zz.cedar:4:');
    expect(stdout).toContain('policy `huge-order-forbidden`');
    const json = JSON.parse((await aegis('policy', 'validate', folder.path, '--json')).stdout);
    expect(json).toMatchObject({ valid: false, directory: folder.path });
    expect(stdout).toContain(`\n${json.problems.length} problems\n`);
    const places = json.problems.map((one: { file: string; line: number }) => [one.file, one.line]);
    expect(places).toContainEqual(['shop.cedar', 4]);
    expect(places).toEqual(places.toSorted());
  });

  test('tells what is wrong with a tool file, by place', async () => {
    const folder = shop();
    folder.write('tools/shop.json', TOOL.replace('"mutates_state":true', '"mutates_state":"yes"'));
    const { code, stdout } = await aegis('policy', 'validate', folder.path);
    expect(code).toBe(1);
    expect(stdout).toContain(`${folder.path}/tools/shop.json: `);
    expect(stdout).toContain('/operations/order/mutates_state');
  });

  test.each([
    ['an escape', '\u001b[2J\u001b[31m'],
    ['a bidi override', '\u202e'],
    ['one byte that moves the cursor', '\u009b1A'],
  ])('never writes %s of a policy to the terminal', async (_, hidden) => {
    const folder = folderWith({ 'a.cedar': `// ${hidden}\n${ALLOW}`, 'tools/shop.json': TOOL });
    for (const args of [[], ['--json']]) {
      const { code, stdout, stderr } = await aegis('policy', 'validate', folder.path, ...args);
      expect(code).toBe(1);
      expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cf}\p{Cc}]/u);
    }
  });

  test('a line that is long is shown around the column', async () => {
    const folder = folderWith({
      'a.cedar': ALLOW.replace('100', `${'1 + '.repeat(5000)}+`),
      'tools/shop.json': TOOL,
    });
    const { stdout } = await aegis('policy', 'validate', folder.path);
    const lines = stdout.split('\n');
    const caret = lines.findIndex((line) => line.trim() === '^');
    expect(lines[caret - 1]?.length).toBeLessThan(140);
    expect(lines[caret - 1]?.[(lines[caret] ?? '').indexOf('^')]).toBe('+');
  });
});

describe('what cannot be read is told in one line, and ends with 2:', () => {
  async function expectTrouble(path: string): Promise<string> {
    const { code, stdout, stderr } = await aegis('policy', 'validate', path);
    expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toMatch(/\bat .*:\d+/);
    return stderr;
  }

  test('a folder that is missing, or a file', async () => {
    const folder = folderWith({ 'a.cedar': ALLOW });
    expect(await expectTrouble(join(folder.path, 'nowhere'))).toContain('ENOENT');
    expect(await expectTrouble(join(folder.path, 'a.cedar'))).toContain('ENOTDIR');
    expect(await expectTrouble('')).toContain('empty');
  });

  test('a link to itself, one to nowhere, and a folder called like a file', async () => {
    const loop = folderWith({});
    symlinkSync('a.cedar', join(loop.path, 'a.cedar'));
    expect(await expectTrouble(loop.path)).toContain('ELOOP');
    const dangling = folderWith({ 'a.cedar': ALLOW });
    mkdirSync(join(dangling.path, 'tools'));
    symlinkSync('nothing', join(dangling.path, 'tools/x.json'));
    expect(await expectTrouble(dangling.path)).toContain('ENOENT');
    const nested = folderWith({ 'b.cedar/x': '' });
    expect(await expectTrouble(nested.path)).toContain('is no file');
  });

  test('a pipe that nobody writes to, and a device without end', async () => {
    const pipe = folderWith({ 'a.cedar': ALLOW });
    execFileSync('mkfifo', [join(pipe.path, 'b.cedar')]);
    expect(await expectTrouble(pipe.path)).toContain('is no file');
    const device = folderWith({});
    symlinkSync('/dev/zero', join(device.path, 'a.cedar'));
    expect(await expectTrouble(device.path)).toContain('is no file');
  });

  test('a file that is huge', async () => {
    const folder = folderWith({ 'a.cedar': '' });
    truncateSync(join(folder.path, 'a.cedar'), 10 * 1024 ** 3);
    expect(await expectTrouble(folder.path)).toContain('10737418240 bytes');
  });

  test('names that would write to the terminal', async () => {
    const folder = folderWith({});
    symlinkSync('nothing', join(folder.path, 'a\u001b[2J.cedar'));
    expect(await expectTrouble(folder.path)).not.toContain('\u001b');
    expect(await expectTrouble('no\u001b[2Jwhere')).not.toContain('\u001b');
  });
});

test('a folder without policies, and a file that is not UTF-8, are problems of the set', async () => {
  const empty = await aegis('policy', 'validate', folderWith({}).path);
  expect(empty).toMatchObject({ code: 1, stderr: '' });
  expect(empty.stdout).toContain('no *.cedar file');
  const bytes = folderWith({ 'a.cedar': Uint8Array.from([0xff, 0xfe]) });
  expect((await aegis('policy', 'validate', bytes.path)).stdout).toContain('a.cedar: the file is not UTF-8');
});
