import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type Binaries, childEnvironment } from './binaries.ts';
import { errorText } from './embedded_error.ts';
import type { Home } from './home.ts';

/** A PostgreSQL server that cannot outlive the service. */
export interface ServerProcess {
  /** Settles when the server has ended, however it ended. */
  exited: Promise<void>;
  hasExited(): boolean;
  /** Ends the server: connections are cut, everything committed is flushed. Waits for its end. */
  stop(): Promise<void>;
  /** What the server has logged since this start, or why it could not be run at all. */
  readLog(): Promise<string[]>;
}

/**
 * Runs the server (`"$@"`) and beside it a reader of file descriptor 3, a pipe that only the service holds. When the
 * service ends in any way the pipe closes, and the reader ends the server (fast; after ten seconds at once) and
 * removes its socket folder (`$1`). A line on the pipe says that there is no server left to end. The server itself
 * does not inherit the pipe.
 */
const script = `
trap '' HUP INT TERM
folder=$1
shift
"$@" 3<&- &
server=$!
(
  read -r gone <&3 && exit 0
  kill -INT "$server"
  tries=0
  while kill -0 "$server" 2>/dev/null; do
    tries=$((tries + 1))
    if [ "$tries" -eq 100 ]; then kill -QUIT "$server"; fi
    sleep 0.1
  done
  rmdir "$folder" 2>/dev/null
) &
exec 3<&-
wait "$server"
`;

const logBytesMax = 8 * 1024 * 1024;

/**
 * Starts the server with `args`; it is not ready yet when this returns. A session of its own keeps a Ctrl-C in the
 * service's terminal from the server, which has to outlive the last request.
 */
export async function spawnServer(
  home: Home,
  binaries: Binaries,
  socketFolder: string,
  args: string[],
): Promise<ServerProcess> {
  const logStart = await openLog(home.logFile);
  const command = ['-c', script, 'aegis-postgres', socketFolder, join(binaries.bin, 'postgres'), ...args];
  const child = spawn('/bin/sh', command, {
    ...home.account,
    cwd: '/', // the account may not be able to enter the service's own folder
    detached: true,
    env: childEnvironment(binaries),
    stdio: ['ignore', logStart.file.fd, logStart.file.fd, 'pipe'],
  });
  await logStart.file.close();
  const pipe = child.stdio[3] as Writable | undefined;
  pipe?.on('error', () => undefined); // the reader may be gone already
  let isStopping = false;
  let spawnFailure: string | undefined;
  let hasExited = false;
  const exited = once(child, 'exit')
    .then(() => undefined)
    .catch((error: unknown) => {
      spawnFailure = errorText(error);
    })
    .finally(() => {
      hasExited = true;
      if (!isStopping) {
        pipe?.end('gone\n');
      }
    });
  return {
    exited,
    hasExited: () => hasExited,
    stop: async () => {
      isStopping = true;
      pipe?.end();
      await exited;
    },
    readLog: async () =>
      spawnFailure === undefined ? readLogFrom(home.logFile, logStart.offset) : [spawnFailure],
  };
}

/** Opened by the service and handed over, so that the log may lie where the server's account cannot write. */
async function openLog(path: string): Promise<{ file: Awaited<ReturnType<typeof open>>; offset: number }> {
  const file = await open(path, 'a', 0o600);
  const { size } = await file.stat();
  if (size <= logBytesMax) {
    return { file, offset: size };
  }
  await file.truncate(0);
  return { file, offset: 0 };
}

async function readLogFrom(path: string, offset: number): Promise<string[]> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(64 * 1024);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return bytes
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .filter((line) => line.trim() !== '');
  } finally {
    await file.close();
  }
}
