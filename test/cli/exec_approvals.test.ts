import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { onMiss, putExecApprovals } from '../support/commands.ts';
import { holdRow, untilBlocked } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { aegis, type Folder, makeFolder } from './support.ts';

let service: TestService;
let folder: Folder;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  folder = makeFolder();
  vi.stubEnv('DATABASE_URL', service.databaseUrl);
  vi.stubEnv('AEGIS_DATA_DIR', join(folder.path, 'data'));
  await service.sql`delete from exec_approvals`;
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder.remove();
});

const TOKEN = 'c2VjcmV0LXRva2VuLW9mLXRoZS1zb2NrZXQ';
const ENTRY = {
  id: '0e6b2a53-6a6a-4a9e-9d5c-0b0a8f2f4c11',
  pattern: '/usr/bin/git',
  lastUsedAt: 1_767_323_045_678,
  lastUsedCommand: 'git status',
  lastResolvedPath: '/usr/bin/git',
};
const FILE = {
  version: 1,
  socket: { path: '~/.agents/exec-approvals.sock', token: TOKEN },
  defaults: { security: 'allowlist', ask: 'on-miss', askFallback: 'deny', autoAllowSkills: false },
  agents: {
    main: { security: 'allowlist', allowlist: [ENTRY, { pattern: '~/bin/*' }] },
    'research-agent': { security: 'deny' },
    '*': { allowlist: [{ pattern: '/usr/bin/ls' }] },
  },
};

const read = async () => (await service.operator.get('/v1/exec-approvals')).body;

function importFile(file: unknown, ...args: string[]) {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return aegis('exec-approvals', 'import', folder.write('exec-approvals.json', text), ...args);
}

describe('aegis exec-approvals import', () => {
  test('stores the file of a host under the names of the service, without its socket', async () => {
    const { code, stdout, stderr } = await importFile(FILE);

    expect({ code, stdout }).toEqual({ code: 0, stdout: 'stored 3 agents with 3 entries\n' });
    expect(stderr).toMatch(/^`socket` was left out/);
    const { document } = await read();
    expect(document).toEqual({
      version: 1,
      defaults: { security: 'allowlist', ask: 'on-miss', ask_fallback: 'deny', auto_allow_skills: false },
      agents: {
        main: {
          security: 'allowlist',
          allowlist: [
            {
              id: ENTRY.id,
              pattern: '/usr/bin/git',
              last_used_at: '2026-01-02T03:04:05.678Z',
              last_used_command: 'git status',
              last_resolved_path: '/usr/bin/git',
            },
            { id: expect.any(String), pattern: '~/bin/*' },
          ],
        },
        'research-agent': { security: 'deny' },
        '*': { allowlist: [{ id: expect.any(String), pattern: '/usr/bin/ls' }] },
      },
    });
    const rows = await service.sql`select document::text as text from exec_approvals`;
    expect(rows[0]?.text).not.toContain(TOKEN);
  });

  test('replaces what is stored only when told to', async () => {
    await putExecApprovals(service.operator, onMiss());
    const before = await read();
    const refused = await importFile(FILE);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^exec approvals are stored already\. Give `--replace`/);
    expect(await read()).toEqual(before);
    expect(await importFile(FILE, '--replace')).toMatchObject({ code: 0 });
    expect((await read()).document.agents).toHaveProperty('main');
  });

  test('replaces nothing that was changed while it imported', async () => {
    await putExecApprovals(service.operator, onMiss());
    const held = await holdRow(
      service.sql,
      (session) => session`update exec_approvals set hash = ${'f'.repeat(64)}`,
    );
    const importing = importFile(FILE, '--replace');
    await untilBlocked(service.sql, 1);
    await held.release();

    const { code, stderr } = await importing;

    expect(code).toBe(2);
    expect(stderr).toMatch(/were changed while they were imported/);
    expect((await read()).document).toEqual(onMiss());
  });

  test('stores those of a node', async () => {
    expect(await importFile(FILE, '--node', 'repo:a')).toMatchObject({ code: 0 });
    expect((await read()).hash).toBeNull();
    const rows = await service.sql`select node_id from exec_approvals`;
    expect(rows).toEqual([{ node_id: 'repo:a' }]);
  });

  test('masks secrets in commands that were run', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(3)}F6g7H8`;
    const entry = { ...ENTRY, lastUsedCommand: `git push https://x:${secret}@github.com/a/b\u001b[2J` };
    await importFile({ version: 1, agents: { main: { allowlist: [entry] } } });
    const text = JSON.stringify(await read());
    expect(text).toContain('git push');
    expect(text).not.toContain(secret);
    expect(text).not.toContain('\\u001b');
  });

  test.each<[what: string, file: unknown, line: RegExp]>([
    ['no strict JSON', '{"version":1,"version":1}', /strict JSON/],
    ['another version', { version: 2 }, /`\/version`/],
    ['an unknown member', { version: 1, mode: 'x' }, /`\/mode` is not a known member/],
    [
      'a member under the name of the service',
      { version: 1, defaults: { ask_fallback: 'deny' } },
      /`\/defaults\/ask_fallback` is not a known member/,
    ],
    [
      'a fallback that runs what nobody answered',
      { version: 1, defaults: { askFallback: 'full' } },
      /`\/defaults\/askFallback` would run the command when nobody answers/,
    ],
    [
      'a bare name',
      { version: 1, agents: { main: { allowlist: [{ pattern: 'git' }] } } },
      /`\/agents\/main\/allowlist\/0\/pattern` is a bare name/,
    ],
    [
      'a time that is none',
      { version: 1, agents: { main: { allowlist: [{ ...ENTRY, lastUsedAt: -1 }] } } },
      /`\/agents\/main\/allowlist\/0\/lastUsedAt`/,
    ],
    ['agents that are one', { version: 1, agents: { main: {}, Main: {} } }, /`\/agents\/Main`/],
    ['a name that would move the cursor', { version: 1, agents: { '\u001b[2J': {} } }, /^\P{Cc}+$/u],
  ])('refuses a file with %s in one line, and stores nothing', async (_, file, line) => {
    const { code, stdout, stderr } = await importFile(file);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr.trimEnd()).toMatch(line);
    expect((await read()).hash).toBeNull();
  });

  test('refuses a tenant that is not there, and a node that no workspace is called', async () => {
    expect((await importFile(FILE, '--tenant', 'nobody')).stderr).toMatch(/^there is no tenant `nobody`/);
    expect((await importFile(FILE, '--node', '')).stderr).toMatch(/^the node cannot be called so/);
    expect((await read()).hash).toBeNull();
  });
});

describe('aegis exec-approvals export', () => {
  test('writes a file that is read to the same document and hash', async () => {
    await importFile(FILE);
    const before = await read();
    const path = join(folder.path, 'exported.json');

    expect(await aegis('exec-approvals', 'export', path)).toEqual({ code: 0, stdout: '', stderr: '' });

    const file = JSON.parse(readFileSync(path, 'utf8'));
    const { socket: _, ...rest } = FILE;
    expect(file).toMatchObject(rest);
    expect(file).not.toHaveProperty('socket');
    await service.sql`delete from exec_approvals`;
    expect(await importFile(file)).toMatchObject({ code: 0, stderr: '' });
    expect(await read()).toEqual(before);
    const again = await aegis('exec-approvals', 'export');
    expect(JSON.parse(again.stdout)).toEqual(file);
  });

  test('does not replace a file unless told to', async () => {
    await importFile(FILE);
    const path = folder.write('kept.json', 'kept');
    const refused = await aegis('exec-approvals', 'export', path);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/is there already\. Give `--force`/);
    expect(readFileSync(path, 'utf8')).toBe('kept');
    expect((await aegis('exec-approvals', 'export', path, '--force')).code).toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8')).version).toBe(1);
  });

  test('of nothing writes nothing: as a file it would deny every command', async () => {
    const path = join(folder.path, 'none.json');
    const { code, stderr } = await aegis('exec-approvals', 'export', path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^no exec approvals are stored/);
    expect(existsSync(path)).toBe(false);
  });
});
