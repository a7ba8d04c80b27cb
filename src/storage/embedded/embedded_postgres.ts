import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, findPackage, prepareBinaries } from './binaries.ts';
import { databaseName, ensureCluster, socketPort } from './cluster.ts';
import { EmbeddedPostgresError, errorCode, errorText } from './embedded_error.ts';
import { type Home, makePrivateFolder, prepareHome } from './home.ts';
import { takeOwnerLock } from './owner_lock.ts';
import { type RunningServer, runServer } from './running_server.ts';

export { isPrepared } from './home.ts';

/** A PostgreSQL server of the service's own. */
export interface EmbeddedPostgres {
  /** For `postgres(databaseUrl)` as it stands. Good for the life of the service, restarts of the server included. */
  databaseUrl: string;
  /** Everything the server keeps: `dataDir`, or a folder under `/var/lib/aegis` when root runs the service. */
  homeFolder: string;
  /** Ends the server and waits for its end. All that was committed is on disk. */
  stop(): Promise<void>;
}

const restartDelayMs = 500;
const restartDelayMsMax = 5000;

/**
 * Starts the PostgreSQL server that keeps its data in (or, as root, for) `dataDir`, and makes both where missing. It
 * listens on a Unix socket in a private folder only, ends with this process however that ends, and is started again
 * when it ends by itself. Needs no Docker, no install script and no write access to `node_modules`.
 *
 * Throws an `EmbeddedPostgresError` with one line that says what to do; among them that another living service uses
 * `dataDir`, which then goes on undisturbed.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  log?: (line: string) => void;
}): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  try {
    const source = await findPackage();
    const home = await prepareHome(options.dataDir, log);
    const binaries = await prepareBinaries(home, source);
    await ensureCluster(home, binaries);
    return await startIn(home, binaries, log);
  } catch (error) {
    throw error instanceof EmbeddedPostgresError
      ? error
      : new EmbeddedPostgresError(
          `cannot start the embedded PostgreSQL: ${errorText(error)}. Set AEGIS_DATA_DIR or DATABASE_URL`,
          error,
        );
  }
}

async function startIn(
  home: Home,
  binaries: Binaries,
  log: (line: string) => void,
): Promise<EmbeddedPostgres> {
  const socketFolder = await makeSocketFolder(home);
  const removeSockets = () => rm(socketFolder, { recursive: true, force: true });
  const run = () => runServer(home, binaries, socketFolder, log);
  try {
    const stopServer = supervise(home, socketFolder, await run(), run, log);
    return {
      databaseUrl: socketUrl(socketFolder),
      homeFolder: home.folder,
      stop: () => stopServer().finally(removeSockets),
    };
  } catch (error) {
    await removeSockets();
    throw error;
  }
}

/**
 * Keeps the server and its lock alive until the returned function is called. A restart uses the same socket folder,
 * which is never without an owner, so that no one else can put a socket in its place.
 */
function supervise(
  home: Home,
  socketFolder: string,
  first: RunningServer,
  run: () => Promise<RunningServer>,
  log: (line: string) => void,
): () => Promise<void> {
  let running = first;
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  const recover = async (): Promise<void> => {
    await running.lock.release();
    if (running.process.hasExited()) {
      log(`the embedded PostgreSQL has ended by itself and is started again; see ${home.logFile}`);
      running = await run();
      return;
    }
    const lock = await takeOwnerLock(socketFolder);
    if (lock !== 'held') {
      running = { process: running.process, lock };
    }
  };
  const watch = async (): Promise<void> => {
    let delayMs = restartDelayMs;
    while (!stopping.signal.aborted) {
      await Promise.race([running.process.exited, running.lock.lost, stopped]);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) {
        delayMs = await recover().then(
          () => restartDelayMs,
          (error: unknown) => {
            log(errorText(error));
            return Math.min(delayMs * 2, restartDelayMsMax);
          },
        );
      }
    }
    await running.lock.release();
    await running.process.stop();
  };
  const ended = watch();
  return () => {
    stopping.abort();
    return ended;
  };
}

/**
 * A folder with a short path, as a socket's path has 107 bytes at most, that only the server's account and root may
 * enter. Its odd end belongs to `socketUrl`.
 */
async function makeSocketFolder(home: Home): Promise<string> {
  const name = `aegis-${randomBytes(8).toString('hex')},:${socketPort}`;
  for (const base of ['/tmp', '/var/tmp', '/run']) {
    const folder = join(base, name);
    try {
      await makePrivateFolder(folder, home.account);
      return folder;
    } catch (error) {
      if (!['ENOENT', 'EACCES', 'EROFS', 'ENOSPC', 'ENOTDIR'].includes(errorCode(error))) {
        throw new EmbeddedPostgresError(
          `cannot make \`${folder}\`: ${errorText(error)}. Set DATABASE_URL`,
          error,
        );
      }
    }
  }
  throw new EmbeddedPostgresError(
    'no folder for a socket: `/tmp` is not writable. Make it so or set DATABASE_URL',
  );
}

/**
 * The driver takes a socket folder from its options, not from a URL, with one exception: the host of a URL is decoded
 * when it is a list, and a host with a slash is a folder. So the folder's name has a comma, which makes it a list, and
 * ends in a port, which keeps the driver from looking for one in the environment.
 */
function socketUrl(folder: string): string {
  const host = folder.replaceAll('/', '%2F');
  return `postgres://${databaseName}@${host}/${databaseName}`;
}
