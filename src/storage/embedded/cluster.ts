import { chmod, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, runBinary } from './binaries.ts';
import { EmbeddedPostgresError, errorCode, errorText } from './embedded_error.ts';
import { exists, type Home, makePrivateFolder, temporaryFolder } from './home.ts';

/** The role and the database that the service uses. */
export const databaseName = 'aegis';

/** Part of the socket's file name; no port is opened. */
export const socketPort = 5432;

/**
 * Makes PostgreSQL's data folder where there is none. It is built under another name, flushed and renamed: a start
 * that is killed in the middle leaves nothing that could be taken for a database, and of two starts at once one wins.
 */
export async function ensureCluster(home: Home, binaries: Binaries): Promise<void> {
  if (await exists(join(home.pgData, 'PG_VERSION'))) {
    return;
  }
  const temporary = temporaryFolder(home.folder, 'initdb');
  try {
    await makePrivateFolder(temporary, home.account);
    const locale = ['--encoding=UTF8', '--locale=C'];
    await runBinary(binaries, home.account, 'initdb', [
      '-D',
      temporary,
      '-U',
      databaseName,
      '-A',
      'peer',
      ...locale,
    ]);
    await rename(temporary, home.pgData);
    const folder = await open(home.folder);
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await explainInitFailure(home, error);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function explainInitFailure(home: Home, error: unknown): Promise<void> {
  if (!['ENOTEMPTY', 'EEXIST'].includes(errorCode(error))) {
    const reason = errorText(error)
      .split('\n')
      .find((line) => /(?:error|fatal):/i.test(line));
    throw new EmbeddedPostgresError(
      `cannot make a database in \`${home.folder}\`: ${reason ?? errorText(error).split('\n')[0]}. Set AEGIS_DATA_DIR or DATABASE_URL`,
      error,
    );
  }
  if (!(await exists(join(home.pgData, 'PG_VERSION')))) {
    throw new EmbeddedPostgresError(
      `\`${home.pgData}\` is not a PostgreSQL data folder. Move it away or set AEGIS_DATA_DIR`,
      error,
    );
  }
}

/**
 * Writes who may connect and gives the server's arguments. The kernel names the user at the other end of the socket
 * (`peer`), and the map lets the service's user and root in as one role: there is no port and no password. What makes
 * a commit durable is left at PostgreSQL's defaults.
 */
export async function configureServer(home: Home, socketFolder: string): Promise<string[]> {
  const hbaFile = join(home.folder, 'pg_hba.conf');
  const identFile = join(home.folder, 'pg_ident.conf');
  await replaceFile(hbaFile, `local all ${databaseName} peer map=aegis\n`);
  const users = [...new Set([home.serviceUser, 'root'])];
  await replaceFile(identFile, users.map((user) => `aegis "${user}" ${databaseName}\n`).join(''));
  const settings = {
    listen_addresses: '',
    port: String(socketPort),
    unix_socket_directories: `"${socketFolder}"`,
    unix_socket_permissions: '0700',
    hba_file: hbaFile,
    ident_file: identFile,
    max_connections: '100',
    shared_buffers: '128MB',
    jit: 'off',
    // the service reports its own failing statements, and a statement can hold what must not be in a log
    log_min_messages: 'log',
    log_checkpoints: 'off',
  };
  return [
    '-D',
    home.pgData,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}-${process.pid}-${performance.now()}`;
  await writeFile(temporary, text);
  await chmod(temporary, 0o644); // whatever the umask: the server's account has to read it
  await rename(temporary, path);
}
