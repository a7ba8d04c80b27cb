import { setTimeout as sleep } from 'node:timers/promises';
import type { Binaries } from './binaries.ts';
import { configureServer } from './cluster.ts';
import { dataDirInUse, EmbeddedPostgresError, errorText } from './embedded_error.ts';
import type { Home } from './home.ts';
import { clearLeftOver } from './left_over.ts';
import { isNotReady, type OwnerLock, takeOwnerLock } from './owner_lock.ts';
import { type ServerProcess, spawnServer } from './server_process.ts';

/** A server that answers, and the lock that says whose it is. */
export interface RunningServer {
  process: ServerProcess;
  lock: OwnerLock;
}

const pollMs = 20;
const conflictMs = 5000;
const recoveryNoticeMs = 10_000;

/**
 * Starts the server of `home`, with its sockets in `socketFolder`, and returns when it answers and this service is its
 * one owner. Recovery after a crash takes as long as it takes. Of several services that start at once exactly one
 * gets here; the others throw the one line.
 */
export async function runServer(
  home: Home,
  binaries: Binaries,
  socketFolder: string,
  log: (line: string) => void,
): Promise<RunningServer> {
  const args = await configureServer(home, socketFolder);
  const started = Date.now();
  for (;;) {
    await clearLeftOver(home, socketFolder);
    const running = await tryServer(home, binaries, socketFolder, args, log);
    if (running !== 'conflict') {
      return running;
    }
    if (Date.now() - started > conflictMs) {
      throw dataDirInUse(home.dataDir);
    }
    await sleep(pollMs * (1 + Math.random()));
  }
}

/** One attempt; `conflict` when another server has, or has only just left, the data folder. */
async function tryServer(
  home: Home,
  binaries: Binaries,
  socketFolder: string,
  args: string[],
  log: (line: string) => void,
): Promise<RunningServer | 'conflict'> {
  const process = await spawnServer(home, binaries, socketFolder, args);
  try {
    const lock = await waitForLock(process, socketFolder, log);
    if (lock === 'exited') {
      return await explainExit(home, process, log);
    }
    if (lock === 'held') {
      throw dataDirInUse(home.dataDir);
    }
    await lock.ensureDatabase();
    return { process, lock };
  } catch (error) {
    await process.stop();
    throw error instanceof EmbeddedPostgresError
      ? error
      : new EmbeddedPostgresError(`the embedded PostgreSQL refuses the service: ${errorText(error)}`, error);
  }
}

async function waitForLock(
  process: ServerProcess,
  socketFolder: string,
  log: (line: string) => void,
): Promise<OwnerLock | 'held' | 'exited'> {
  let noticeAt = Date.now() + recoveryNoticeMs;
  while (!process.hasExited()) {
    try {
      return await takeOwnerLock(socketFolder);
    } catch (error) {
      if (!isNotReady(error)) {
        throw error;
      }
    }
    if (Date.now() > noticeAt) {
      log('the embedded PostgreSQL is still recovering');
      noticeAt = Date.now() + recoveryNoticeMs;
    }
    await Promise.race([sleep(pollMs), process.exited]);
  }
  return 'exited';
}

async function explainExit(
  home: Home,
  process: ServerProcess,
  log: (line: string) => void,
): Promise<'conflict'> {
  const lines = await process.readLog();
  if (
    lines.some((line) => /lock file "postmaster\.pid" already exists|pre-existing shared memory/.test(line))
  ) {
    return 'conflict';
  }
  for (const line of lines.slice(-10)) {
    log(line);
  }
  const reason = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1) ?? 'it logged nothing';
  throw new EmbeddedPostgresError(
    `the embedded PostgreSQL does not start: ${reason.replace(/^.*?(?:FATAL|PANIC): +/, '')}. See \`${home.logFile}\``,
  );
}
