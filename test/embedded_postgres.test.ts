import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/storage/embedded/embedded_postgres.ts';
import {
  type Installation,
  makeInstallation,
  readServerPid,
  type ServiceAnswer,
  startService,
} from './fixtures/embedded_service_process.ts';

const isRoot = process.geteuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const canBeNobody =
  isRoot && spawnSync(process.execPath, ['--version'], { ...nobody, cwd: '/' }).status === 0;
if (!canBeNobody) {
  console.warn('SKIPPED: starting as an ordinary user needs root and a node that any account may run');
}

// making a database takes a second, and several on a busy machine
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folders: string[] = [];
let installation: Installation;
/** Shared by the tests below, in order: each leaves it stopped and with its rows. */
let dataDir: string;
let homeFolder: string;

beforeAll(async () => {
  installation = await makeInstallation({ binaries: true });
  dataDir = join(await makeFolder(), 'data');
});

afterAll(async () => {
  await installation.remove();
  for (const folder of folders) {
    await rm(folder, { recursive: true, force: true });
  }
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aegis-test-'));
  folders.push(folder);
  return folder;
}

async function start(folder: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: folder });
  folders.push(server.homeFolder);
  return server;
}

function running(answer: ServiceAnswer): { databaseUrl: string; homeFolder: string } {
  if (!('databaseUrl' in answer)) {
    throw new Error(`the service did not start: ${answer.message}`);
  }
  folders.push(answer.homeFolder);
  return answer;
}

async function query(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const client = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    return [...(await client.unsafe(text))];
  } finally {
    await client.end({ timeout: 1 });
  }
}

async function expectRows(databaseUrl: string, count: number): Promise<void> {
  const rows = await query(databaseUrl, 'select count(*)::int as count from kept');
  expect(rows).toEqual([{ count }]);
}

/** A zombie does not live: who inherits an orphan may not collect it. */
function isAlive(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  return state !== '' && !state.startsWith('Z');
}

const waitForEnd = (pid: number) => vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 5000 });

async function expectNoSocket(databaseUrl: string): Promise<void> {
  const folder = decodeURIComponent(databaseUrl.replace(/^.*@/, '').replace(/\/aegis$/, ''));
  await vi.waitFor(() => expect(stat(folder)).rejects.toThrow('ENOENT'), { timeout: 5000 });
}

test('it starts on a missing folder, serves the driver and drizzle by its URL alone, and keeps rows', async () => {
  const first = await start(dataDir);
  homeFolder = first.homeFolder;
  await query(first.databaseUrl, 'create table kept (id int); insert into kept values (1)');
  const client = postgres(first.databaseUrl);
  const rows = await drizzle(client).execute(sql`select current_database() as db, current_user as role`);
  await client.end();
  await first.stop();
  await expectNoSocket(first.databaseUrl);
  expect([...rows]).toEqual([{ db: 'aegis', role: 'aegis' }]);

  const second = await start(dataDir);
  await expectRows(second.databaseUrl, 1);
  await second.stop();
});

test('it opens no port, asks the kernel who connects, and commits durably in UTF-8', async () => {
  const server = await start(dataDir);
  const names = ['listen_addresses', 'fsync', 'synchronous_commit', 'full_page_writes', 'server_encoding'];
  const settings = await query(
    server.databaseUrl,
    `select name, setting from pg_settings where name in (${names.map((name) => `'${name}'`)}) order by name`,
  );
  const rules = await query(server.databaseUrl, 'select type, auth_method from pg_hba_file_rules');
  await server.stop();
  expect(settings.map((row) => `${row.name}=${row.setting}`)).toEqual([
    'fsync=on',
    'full_page_writes=on',
    'listen_addresses=',
    'server_encoding=UTF8',
    'synchronous_commit=on',
  ]);
  expect(rules).toEqual([{ type: 'local', auth_method: 'peer' }]);
});

test('kill -9 of the service ends its server, and the next start has every committed row', async () => {
  const service = startService(installation, dataDir);
  const { databaseUrl } = running(await service.answer);
  const pid = await readServerPid(homeFolder);
  await query(databaseUrl, 'insert into kept values (2)');
  await service.end('SIGKILL');
  await waitForEnd(pid);
  await expectNoSocket(databaseUrl);

  const next = await start(dataDir);
  await expectRows(next.databaseUrl, 2);
  await next.stop();
});

test('a start right after kill -9 waits for the server that is still ending', async () => {
  const service = startService(installation, dataDir);
  running(await service.answer);
  await service.end('SIGKILL');
  const next = await start(dataDir);
  await expectRows(next.databaseUrl, 2);
  await next.stop();
});

test('a second service on the folder is refused with one line, and the first goes on', async () => {
  const service = startService(installation, dataDir);
  const { databaseUrl } = running(await service.answer);
  const pid = await readServerPid(homeFolder);
  await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
    name: 'EmbeddedPostgresError',
    message: `another Aegis service is using the data folder \`${dataDir}\`. Stop it or set AEGIS_DATA_DIR`,
  });
  await expectRows(databaseUrl, 2);
  expect(await readServerPid(homeFolder)).toBe(pid);
  await service.end('SIGTERM');
  expect(isAlive(pid)).toBe(false);
});

test('a server without an owner is stopped, and a new one started', async () => {
  const service = startService(installation, dataDir);
  const { databaseUrl } = running(await service.answer);
  const pid = await readServerPid(homeFolder);
  const shell = Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout);
  const reader = spawnSync('ps', ['-o', 'pid=', '--ppid', String(shell)], { encoding: 'utf8' }).stdout;
  for (const child of [shell, ...reader.trim().split(/\s+/).map(Number)]) {
    if (child !== pid) {
      process.kill(child, 'SIGKILL');
    }
  }
  await service.end('SIGKILL');
  expect(isAlive(pid)).toBe(true);

  const next = await start(dataDir);
  expect(isAlive(pid)).toBe(false);
  await expectRows(next.databaseUrl, 2);
  await next.stop();
  await expectNoSocket(databaseUrl);
});

test.each([
  ['of an unrelated process', 'exec sleep 60', (child: ChildProcess) => child.pid],
  ['of a zombie', 'sleep 0 & exec sleep 60', (child: ChildProcess) => findChild(child.pid)],
])('a postmaster.pid %s does not stop a start', async (_, command, findPid) => {
  const { uid, gid } = await stat(join(homeFolder, 'postgres'));
  const child = spawn('/bin/sh', ['-c', command], { uid, gid, cwd: '/', stdio: 'ignore' });
  try {
    const pid = await vi.waitFor(() => findPid(child) ?? Promise.reject(new Error('no such process yet')));
    const path = join(homeFolder, 'postgres/postmaster.pid');
    await writeFile(path, `${pid}\n${join(homeFolder, 'postgres')}\n1700000000\n5432\n/tmp/gone\n\n`);
    await chown(path, uid, gid);
    const server = await start(dataDir);
    await expectRows(server.databaseUrl, 2);
    await server.stop();
    expect(child.exitCode).toBe(null);
  } finally {
    child.kill('SIGKILL');
  }
});

function findChild(parent: number | undefined): number | undefined {
  const list = spawnSync('ps', ['-o', 'pid=,stat=', '--ppid', String(parent)], { encoding: 'utf8' }).stdout;
  const match = /(\d+)\s+Z/.exec(list);
  return match === null ? undefined : Number(match[1]);
}

test('a server that ends by itself is started again, and the same URL serves', async () => {
  const server = await start(dataDir);
  const pid = await readServerPid(homeFolder);
  process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expectRows(server.databaseUrl, 2), { timeout: 8000, interval: 50 });
  expect(await readServerPid(homeFolder)).not.toBe(pid);
  await server.stop();
});

test("the owner's lock is taken again when its connection is cut", async () => {
  const server = await start(dataDir);
  const locks = `select count(*)::int as locks, min(pid) as pid from pg_locks where locktype = 'advisory'`;
  const [before] = await query(server.databaseUrl, locks);
  await query(server.databaseUrl, `select pg_terminate_backend(${before?.pid})`);
  await vi.waitFor(
    async () => {
      const [after] = await query(server.databaseUrl, locks);
      expect(after?.locks).toBe(1);
      expect(after?.pid).not.toBe(before?.pid);
    },
    { timeout: 5000, interval: 50 },
  );
  await server.stop();
});

test('of two services that start at once on a fresh folder exactly one runs', async () => {
  const fresh = join(await makeFolder(), 'data');
  const services = [startService(installation, fresh), startService(installation, fresh)];
  const answers = await Promise.all(services.map((service) => service.answer));
  const winners = answers.filter((answer) => 'databaseUrl' in answer).map(running);
  const messages = answers.flatMap((answer) => ('message' in answer ? [answer.message] : []));
  expect(messages).toEqual([expect.stringMatching(/^another Aegis service is using the data folder/)]);
  expect(await query(winners[0]?.databaseUrl ?? '', 'select 1 as one')).toEqual([{ one: 1 }]);
  await Promise.all(services.map((service) => service.end('SIGTERM')));
});

test('kill -9 in the middle of making the database leaves nothing in the way of the next start', async () => {
  const fresh = join(await makeFolder(), 'data');
  const service = startService(installation, fresh);
  const findHome = async () => {
    const id = isRoot ? (await readFile(join(fresh, 'instance-id'), 'utf8')).trim() : undefined;
    return id === undefined ? fresh : join('/var/lib/aegis', id);
  };
  await vi.waitFor(
    async () => expect((await readdir(await findHome())).join()).toContain('unfinished-initdb-'),
    { timeout: 10_000, interval: 10 },
  );
  await service.end('SIGKILL');
  const home = await findHome();
  folders.push(home);
  expect(await readdir(home)).not.toContain('postgres');

  const next = await start(fresh);
  expect(await query(next.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
  await next.stop();
});

test('a platform without binaries is told to set DATABASE_URL', async () => {
  const bare = await makeInstallation({ binaries: false });
  const answer = await startService(bare, join(await makeFolder(), 'data')).answer;
  await bare.remove();
  expect(answer).toEqual({
    name: 'EmbeddedPostgresError',
    message: `no embedded PostgreSQL for \`${process.platform}-${process.arch}\`. Set DATABASE_URL`,
  });
});

describe.runIf(isRoot)('as root', () => {
  test('it serves a data folder that only root may enter', async () => {
    await chmod(join(dataDir, '..'), 0o700);
    const server = await start(dataDir);
    const [row] = await query(server.databaseUrl, 'select 1 as one');
    const owner = await stat(join(server.homeFolder, 'postgres'));
    await server.stop();
    expect(row).toEqual({ one: 1 });
    expect(owner.uid).not.toBe(0);
    expect(owner.mode & 0o077).toBe(0);
  });
});

describe.runIf(canBeNobody)('as an ordinary user', () => {
  let folder: string;

  beforeAll(async () => {
    folder = join(await makeFolder(), 'own');
    await mkdir(folder);
    await chown(folder, nobody.uid, nobody.gid);
    await chmod(join(folder, '..'), 0o755);
  });

  test('it runs from a node_modules that it cannot write, with and without executable bits', async () => {
    const list = () => readdir(installation.binaries, { recursive: true });
    const before = await list();
    for (const mode of [0o755, 0o644]) {
      for (const name of ['postgres', 'initdb']) {
        await chmod(join(installation.binaries, 'native/bin', name), mode);
      }
      const service = startService(installation, join(folder, 'data'), nobody);
      running(await service.answer);
      expect((await stat(join(folder, 'data/postgres'))).uid).toBe(nobody.uid);
      await service.end('SIGTERM');
    }
    expect(await list()).toEqual(before);
  });

  test('a data folder that it cannot write ends in one line', async () => {
    const service = startService(installation, join(folder, '../no'), nobody);
    expect(await service.answer).toMatchObject({
      name: 'EmbeddedPostgresError',
      message: expect.stringMatching(/^cannot write to the data folder `.*` \(EACCES\)\. Make it writable/),
    });
  });
});
