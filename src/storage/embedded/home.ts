import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode, errorText } from './embedded_error.ts';

/** The user and group that PostgreSQL runs as when the service itself may not run it. */
export interface Account {
  uid: number;
  gid: number;
}

/** Where the embedded server lives and who runs it. */
export interface Home {
  /** The folder that the user named, without symbolic links. */
  dataDir: string;
  /** The folder of everything the server needs: `dataDir`, or one under `/var/lib/aegis` when root runs the service. */
  folder: string;
  /** PostgreSQL's own data folder. It exists only once it is complete. */
  pgData: string;
  logFile: string;
  /** Undefined when the server runs as the service's own user. */
  account: Account | undefined;
  /** The service's own user, as PostgreSQL's `peer` sees it. */
  serviceUser: string;
}

const instanceFile = 'instance-id';
const rootFolder = '/var/lib/aegis';
const abandonedAfterMs = 10 * 60_000;

/**
 * Finds, and makes where missing, the folders of the server that belongs to `dataDir`. PostgreSQL refuses to run
 * as root, and the account that runs it then may not be able to enter `dataDir`: so root's server lives under
 * `/var/lib/aegis`, in a folder whose random name is kept in `dataDir`.
 */
export async function prepareHome(dataDir: string, log: (line: string) => void): Promise<Home> {
  const real = await makeDataDir(dataDir);
  const isRoot = process.geteuid?.() === 0;
  const folder = isRoot ? await makeRootFolder(real, log) : real;
  const pgData = join(folder, 'postgres');
  const account = isRoot ? await findAccount(pgData) : undefined;
  await removeAbandoned(folder);
  return {
    dataDir: real,
    folder,
    pgData,
    logFile: join(folder, 'postgres.log'),
    account,
    serviceUser: findUser(),
  };
}

/** Whether an embedded server has ever been prepared for `dataDir`, by root or by an ordinary user. */
export async function isPrepared(dataDir: string): Promise<boolean> {
  return (await exists(join(dataDir, 'postgres'))) || (await exists(join(dataDir, instanceFile)));
}

/** The name of a folder to build in and rename when complete, so that half a result is never taken for a whole. */
export function temporaryFolder(folder: string, what: 'binaries' | 'initdb'): string {
  return join(folder, `unfinished-${what}-${randomBytes(6).toString('hex')}`);
}

/** Makes an empty folder that only the server's account may enter. */
export async function makePrivateFolder(path: string, account: Account | undefined): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (account !== undefined) {
    await chown(path, account.uid, account.gid);
  }
}

async function makeDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const real = await realpath(dataDir);
    const probe = join(real, `unfinished-probe-${randomBytes(6).toString('hex')}`);
    await mkdir(probe);
    await rm(probe, { recursive: true });
    return real;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `cannot write to the data folder \`${dataDir}\` (${errorCode(error)}). Make it writable, or set AEGIS_DATA_DIR or DATABASE_URL`,
      error,
    );
  }
}

async function makeRootFolder(dataDir: string, log: (line: string) => void): Promise<string> {
  const folder = join(rootFolder, await findInstanceId(dataDir));
  try {
    for (const path of [rootFolder, folder]) {
      await mkdir(path, { recursive: true });
      await chmod(path, 0o755); // whatever the umask: the server's account has to get in
    }
  } catch (error) {
    throw new EmbeddedPostgresError(
      `cannot make \`${folder}\` for the embedded PostgreSQL (${errorCode(error)}). Run as an ordinary user or set DATABASE_URL`,
      error,
    );
  }
  if (await exists(join(dataDir, 'postgres'))) {
    log(`as root, the database is in ${folder}; the one in ${dataDir} belongs to runs as an ordinary user`);
  }
  return folder;
}

/** Two services that start at once agree on one id: `link` makes the file whole or not at all. */
async function findInstanceId(dataDir: string): Promise<string> {
  const path = join(dataDir, instanceFile);
  const fresh = randomBytes(8).toString('hex');
  const temporary = join(dataDir, `${instanceFile}-${fresh}`);
  if (!(await exists(path))) {
    await writeFile(temporary, `${fresh}\n`, { mode: 0o600, flush: true });
    await link(temporary, path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') {
        throw error;
      }
    });
    await rm(temporary);
  }
  const id = (await readFile(path, 'utf8')).trim();
  if (!/^[0-9a-f]{16}$/.test(id)) {
    throw new EmbeddedPostgresError(
      `\`${path}\` does not hold an instance id. Restore the file or set AEGIS_DATA_DIR`,
    );
  }
  return id;
}

/** The owner of the data that is there, else `postgres`, else `nobody`. */
async function findAccount(pgData: string): Promise<Account> {
  const owner = await stat(pgData).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) {
    return { uid: owner.uid, gid: owner.gid };
  }
  const entries = (await readFile('/etc/passwd', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find((fields) => fields[0] === name);
    const [uid, gid] = [Number(entry?.[2]), Number(entry?.[3])];
    if (uid > 0 && gid > 0) {
      return { uid, gid };
    }
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL does not run as root, and there is no account `postgres` or `nobody`. Run as an ordinary user or set DATABASE_URL',
  );
}

function findUser(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `the user id ${process.geteuid?.()} has no name on this system, which PostgreSQL needs. Run as another user or set DATABASE_URL`,
      error,
    );
  }
}

/** Removes what a killed start left half-built. A start that is still at work has touched its folder just now. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = name.startsWith('unfinished-') ? await stat(path).catch(() => undefined) : undefined;
    if (entry !== undefined && Date.now() - entry.mtimeMs > abandonedAfterMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** False only when there is nothing at `path`; any other trouble is thrown. */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      return false;
    }
    throw new EmbeddedPostgresError(
      `cannot look at \`${path}\`: ${errorText(error)}. Make it readable`,
      error,
    );
  }
}
