import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../storage/embedded/embedded_postgres.ts';
import type { Config } from './config.ts';

/** Where a running service says how its embedded database is reached. */
const LOCATION_FILE = 'database-url';

export interface OpenedDatabase {
  url: string;
  /** For LISTEN and migrations. */
  directUrl: string;
  /** Whether `url` is a pooler's. */
  isPooled: boolean;
  close(): Promise<void>;
}

const doNothing = async (): Promise<void> => undefined;

/** The database the configuration names, or the embedded one, started. @throws EmbeddedPostgresError. */
export async function provideDatabase(config: Config, log: (line: string) => void): Promise<OpenedDatabase> {
  const { databaseUrl, databaseListenUrl, dataDir } = config;
  if (databaseUrl !== undefined) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return {
      url: databaseUrl,
      directUrl: databaseListenUrl ?? databaseUrl,
      isPooled: databaseListenUrl !== undefined,
      close: doNothing,
    };
  }
  const embedded: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, log });
  const path = join(dataDir, LOCATION_FILE);
  writeFileSync(path, `${embedded.databaseUrl}\n`, { mode: 0o600 });
  return {
    url: embedded.databaseUrl,
    directUrl: embedded.databaseUrl,
    isPooled: false,
    close: async () => {
      rmSync(path, { force: true });
      await embedded.stop();
    },
  };
}

/** The URL of the embedded database of a service that runs now, as far as it says so. */
export function findRunningDatabase(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, LOCATION_FILE), 'utf8').trim();
  } catch {
    return undefined;
  }
}
