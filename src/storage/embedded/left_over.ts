import { execFile } from 'node:child_process';
import { readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { dataDirInUse, EmbeddedPostgresError } from './embedded_error.ts';
import { exists, type Home } from './home.ts';
import { hasOwner, takeOwnerLock } from './owner_lock.ts';

/** What a server writes about itself into its data folder. */
interface PidFile {
  text: string;
  pid: number;
  /** Empty while the server is only starting. */
  socketFolder: string;
}

const waitMs = 5000;
const pollMs = 50;
/** How long a server may have no owner before it counts as left over: its owner may only just be starting it. */
const ownerGraceMs = 1000;
const killAfterMs = 4000;

/**
 * Leaves the data folder without a server, or throws one clear line. A server with a living owner is left alone; one
 * whose service is gone is stopped; the file of a process that is no server of this folder is removed. Whatever does
 * not answer is waited for, five seconds at most.
 */
export async function clearLeftOver(home: Home, ownSocketFolder: string): Promise<void> {
  const started = Date.now();
  let ownerlessSince: number | undefined;
  for (;;) {
    const file = await readPidFile(home.pgData);
    if (file === undefined) {
      return;
    }
    if (!(await isServerOf(file.pid, home.pgData))) {
      await removeStale(home.pgData, file);
      continue;
    }
    const owned = await hasOwner(file.socketFolder).catch(() => undefined);
    if (owned === true) {
      throw dataDirInUse(home.dataDir);
    }
    ownerlessSince = owned === false ? (ownerlessSince ?? Date.now()) : undefined;
    if (ownerlessSince !== undefined && Date.now() - ownerlessSince >= ownerGraceMs) {
      await stopLeftOver(home, file);
      if (file.socketFolder !== ownSocketFolder) {
        await rmdir(file.socketFolder).catch(() => undefined); // the server has removed its sockets
      }
      return;
    }
    if (Date.now() - started > waitMs) {
      throw stuck(home, file.pid);
    }
    await sleep(pollMs);
  }
}

/** Holds the lock meanwhile, so that of all who find the left-over server one stops it. */
async function stopLeftOver(home: Home, file: PidFile): Promise<void> {
  const lock = await takeOwnerLock(file.socketFolder);
  if (lock === 'held') {
    throw dataDirInUse(home.dataDir);
  }
  const started = Date.now();
  let killed = false;
  try {
    signal(file.pid, 'SIGINT');
    while (await isServerOf(file.pid, home.pgData)) {
      const elapsed = Date.now() - started;
      if (elapsed > waitMs) {
        throw stuck(home, file.pid);
      }
      if (elapsed > killAfterMs && !killed) {
        killed = true;
        signal(file.pid, 'SIGQUIT'); // loses nothing: the next start recovers
      }
      await sleep(pollMs);
    }
  } finally {
    await lock.release();
  }
}

function stuck(home: Home, pid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `a PostgreSQL server (process ${pid}) holds \`${home.pgData}\` and does not answer. Stop it with \`kill -QUIT ${pid}\` or set AEGIS_DATA_DIR`,
  );
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended meanwhile, which is what is wanted; if it has not, the wait ends with a clear line
  }
}

async function readPidFile(pgData: string): Promise<PidFile | undefined> {
  const path = join(pgData, 'postmaster.pid');
  if (!(await exists(path))) {
    return undefined;
  }
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) {
    return undefined;
  }
  const lines = text.split('\n');
  return { text, pid: Number.parseInt(lines[0] ?? '', 10), socketFolder: lines[4] ?? '' };
}

/**
 * Whether the process is a server of this folder: its command line names the folder. A process id that was given to
 * another program since, and a zombie, whose command line is empty, are not.
 */
async function isServerOf(pid: number, pgData: string): Promise<boolean> {
  const args = await readCommandLine(pid);
  return args.includes('postgres') && args.includes(pgData);
}

async function readCommandLine(pid: number): Promise<string> {
  if (!(pid > 0)) {
    return '';
  }
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  }
  const ps = promisify(execFile)('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
  return ps.then((result) => result.stdout).catch(() => '');
}

/** Should a server have started this very moment, PostgreSQL's shared memory block still keeps a second one out. */
async function removeStale(pgData: string, file: PidFile): Promise<void> {
  const current = await readPidFile(pgData);
  if (current?.text === file.text) {
    await rm(join(pgData, 'postmaster.pid'), { force: true });
  }
}
