import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FirstTokens } from '../src/cli/first_keys.ts';
import { startEmbeddedPostgres } from '../src/storage/embedded/embedded_postgres.ts';

export const ECHO_PATH = '/bench/echo';

export type ServerMessage =
  | { kind: 'ready'; url: string; tokens: FirstTokens }
  | { kind: 'memory'; residentBytes: number };

/** The measured service, in a process of its own. */
export interface ServerProcess {
  url: string;
  databaseUrl: string;
  tokens: FirstTokens;
  readResidentMb(): Promise<number>;
  stop(): Promise<void>;
}

const MB = 1024 * 1024;

/** The next message of one kind. Rejects when the process ends instead. */
async function receive<Kind extends ServerMessage['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<ServerMessage, { kind: Kind }>> {
  const aborter = new AbortController();
  const onExit = (): void => aborter.abort();
  child.once('exit', onExit);
  const [message] = (await once(child, 'message', { signal: aborter.signal }).catch((cause: unknown) => {
    throw new Error('the service ended', { cause });
  })) as [ServerMessage];
  child.off('exit', onExit);
  if (message.kind !== kind) throw new Error(`the service told its ${message.kind} instead of its ${kind}`);
  return message as Extract<ServerMessage, { kind: Kind }>;
}

/**
 * Starts the service on an embedded database, with the starter set or another folder of policies; database and data
 * are gone after `stop`.
 */
export async function startServerProcess(policyDir?: string): Promise<ServerProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'aegis-bench-'));
  const database = await startEmbeddedPostgres({ dataDir });
  const child = fork(join(dirname(fileURLToPath(import.meta.url)), 'server.js'), {
    env: {
      DATABASE_URL: database.databaseUrl,
      PORT: '0',
      AEGIS_DATA_DIR: dataDir,
      AEGIS_APPROVAL_TTL_SECS: '86400',
      AEGIS_ASK_LIMIT_PER_HOUR: '1000000',
      ...(policyDir === undefined ? {} : { AEGIS_POLICY_DIR: policyDir }),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { url, tokens } = await receive(child, 'ready');
  return {
    url,
    databaseUrl: database.databaseUrl,
    tokens,
    readResidentMb: async () => {
      const told = receive(child, 'memory');
      child.send('memory');
      return (await told).residentBytes / MB;
    },
    stop: async () => {
      if (child.connected) {
        const ended = once(child, 'exit');
        child.disconnect();
        await ended;
      }
      await database.stop();
      rmSync(database.homeFolder, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
