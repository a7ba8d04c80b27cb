import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
const OLDEST_MAJOR = 14;
const PASSWORD = 'a-password-of-the-test';
const START_MS = 20_000;
const POLL_MS = 50;

export interface SystemPostgres {
  version: string;
  url: string;
  stop(): Promise<void>;
}

function majorOf(folder: string): number {
  try {
    const version = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' });
    return Number(/ (\d+)/.exec(version)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The folder with the programs of a PostgreSQL that this machine has, 14 or newer; undefined without one. */
export function findSystemPostgres(): string | undefined {
  const debian = existsSync(DEBIAN_FOLDER)
    ? readdirSync(DEBIAN_FOLDER).map((version) => join(DEBIAN_FOLDER, version, 'bin'))
    : [];
  const folders = [...debian, ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && majorOf(folder) >= OLDEST_MAJOR);
}

/** The account that the server runs as: PostgreSQL refuses root. */
function findAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The server's version once it answers. @throws Error when it ends, or does not answer in time. */
async function untilAnswering(url: string, server: ChildProcess): Promise<string> {
  for (const deadline = Date.now() + START_MS; ; ) {
    const sql = postgres(url, { max: 1, onnotice: () => undefined });
    try {
      const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`;
      return row?.version ?? '';
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) throw error;
    } finally {
      await sql.end({ timeout: 1 });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Starts a server of its own from the programs in `folder`: TCP on loopback, a password, nothing kept. */
export async function startSystemPostgres(folder: string): Promise<SystemPostgres> {
  const account = findAccount();
  const home = mkdtempSync(join(tmpdir(), 'aegis-postgres-'));
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (account !== undefined) {
    for (const path of [home, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  const data = join(home, 'data');
  execFileSync(
    join(folder, 'initdb'),
    ['-D', data, '-U', 'aegis', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync', '-E', 'UTF8'],
    { ...account, cwd: home, stdio: 'ignore' },
  );
  const port = await findFreePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off'];
  const server = spawn(
    join(folder, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...account, cwd: home, stdio: 'ignore' },
  );
  const exited = once(server, 'exit');
  const stop = async (): Promise<void> => {
    server.kill('SIGINT');
    await exited;
    rmSync(home, { recursive: true, force: true });
  };
  const url = `postgres://aegis:${PASSWORD}@127.0.0.1:${port}/postgres`;
  try {
    return { version: await untilAnswering(url, server), url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
