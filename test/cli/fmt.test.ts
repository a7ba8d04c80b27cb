import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { formatPolicyFile } from '../../src/policy/format_policies.ts';
import { aegis, type Folder, makeFolder } from './support.ts';

const UGLY = `// What holds for all.
// Two lines.

@id("a")   // why
permit(principal,action,resource) // tail
when { // in
  context.tool.registered  &&   // first
  context.unattended // "quoted // twice"
}; // after

// On the next.

@id("b") @reason("// is no comment")
forbid(principal,action,resource) unless { context.tool.registered };
// the end`;

const NEAT = `// What holds for all.
// Two lines.

@id("a") // why
permit (principal, action, resource) // tail
when
{ // in
  context.tool.registered && // first
  context.unattended // "quoted // twice"
}; // after

// On the next.

@id("b")
@reason("// is no comment")
forbid (principal, action, resource)
unless { context.tool.registered };
// the end
`;

const folders: Folder[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function folderWith(files: Record<string, string | Uint8Array>): Folder {
  const folder = makeFolder(files);
  folders.push(folder);
  return folder;
}

const read = (folder: Folder, file: string): string => readFileSync(join(folder.path, file), 'utf8');

describe('aegis policy fmt', () => {
  test('writes the form of Cedar, with every comment and the blank lines after comments', async () => {
    const folder = folderWith({ 'a.cedar': UGLY, 'b.cedar': NEAT });
    const { code, stdout, stderr } = await aegis('policy', 'fmt', folder.path);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${folder.path}/a.cedar\n`, stderr: '' });
    expect(read(folder, 'a.cedar')).toBe(NEAT);
    expect(readdirSync(folder.path)).toEqual(['a.cedar', 'b.cedar']);
  });

  test('what it wrote it leaves alone', async () => {
    const folder = folderWith({ 'a.cedar': UGLY });
    await aegis('policy', 'fmt', folder.path);
    expect(await aegis('policy', 'fmt', folder.path, '--check')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('--check tells and writes nothing', async () => {
    const folder = folderWith({ 'a.cedar': UGLY });
    const { code, stdout } = await aegis('policy', 'fmt', folder.path, '--check');
    expect(code).toBe(1);
    expect(stdout).toBe(`${folder.path}/a.cedar\n1 to format. Run \`aegis policy fmt\`\n`);
    expect(read(folder, 'a.cedar')).toBe(UGLY);
    const json = await aegis('policy', 'fmt', folder.path, '--check', '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ check: true, changed: ['a.cedar'], problems: [] });
  });

  test('a file that does not parse is told by line and column, and left as it is; the others are written', async () => {
    const broken = '@id("x")\npermit (principal, action, resource) when { 1 + };\n';
    const folder = folderWith({ 'a.cedar': broken, 'b.cedar': UGLY });
    const { code, stdout } = await aegis('policy', 'fmt', folder.path);
    expect(code).toBe(1);
    expect(stdout).toContain(`${folder.path}/a.cedar:2:`);
    expect(read(folder, 'a.cedar')).toBe(broken);
    expect(read(folder, 'b.cedar')).toBe(NEAT);
  });

  test('a file that is not UTF-8, or has what nobody sees, is told and left as it is', async () => {
    const bytes = Uint8Array.from([0x2f, 0x2f, 0xff, 0x0a]);
    const folder = folderWith({
      'a.cedar': bytes,
      'b.cedar': '// \u202e\n@id("b") permit(principal,action,resource);',
    });
    const { code, stdout } = await aegis('policy', 'fmt', folder.path);
    expect(code).toBe(1);
    expect(stdout).toContain('the file is not UTF-8');
    expect(stdout).toContain('b.cedar:1:4');
    expect(stdout).not.toContain('\u202e');
    expect(Uint8Array.from(readFileSync(join(folder.path, 'a.cedar')))).toEqual(bytes);
  });

  test('a link stays one, and permissions stay as they are', async () => {
    const folder = folderWith({ 'store/real': UGLY });
    chmodSync(join(folder.path, 'store/real'), 0o640);
    symlinkSync('store/real', join(folder.path, 'a.cedar'));
    expect((await aegis('policy', 'fmt', folder.path)).code).toBe(0);
    expect(lstatSync(join(folder.path, 'a.cedar')).isSymbolicLink()).toBe(true);
    expect(read(folder, 'store/real')).toBe(NEAT);
    expect(statSync(join(folder.path, 'store/real')).mode & 0o777).toBe(0o640);
  });

  test('an empty file and one of comments alone keep what they have', async () => {
    const folder = folderWith({ 'a.cedar': '', 'b.cedar': '// later\n' });
    expect(await aegis('policy', 'fmt', folder.path)).toMatchObject({ code: 0, stdout: '' });
    expect([read(folder, 'a.cedar'), read(folder, 'b.cedar')]).toEqual(['', '// later\n']);
  });

  test('a folder without policies, and none at all, is wrong use', async () => {
    for (const path of [folderWith({}).path, '/nowhere/at/all', '']) {
      const { code, stdout, stderr } = await aegis('policy', 'fmt', path);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });
});

describe('the form of a file', () => {
  test.each(readdirSync('policies').filter((name) => name.endsWith('.cedar')))(
    'once made of %s, is its own form',
    (name) => {
      const once = formatPolicyFile(readFileSync(join('policies', name), 'utf8'), name);
      if (once.kind === 'refused') throw new Error('the file is refused');
      expect(formatPolicyFile(once.text, name)).toEqual(once);
    },
  );

  test('with line ends of Windows is one with those of Unix', () => {
    expect(formatPolicyFile(UGLY.replaceAll('\n', '\r\n'), 'a')).toEqual({ kind: 'formatted', text: NEAT });
  });

  test('is refused, and not made, where a policy has no id', () => {
    const text = 'permit(principal,action,resource);';
    expect(formatPolicyFile(text, 'a.cedar')).toMatchObject({
      kind: 'refused',
      problems: [{ source: 'a.cedar', line: 1, message: 'policy has no `@id`' }],
    });
  });
});
