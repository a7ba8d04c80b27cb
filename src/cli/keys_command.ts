import { parseArgs } from 'node:util';
import { v7 as newUuid } from 'uuid';
import { ROLES, type Role } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { parsePrincipal } from '../core/identifiers.ts';
import type { NewKey } from '../core/ports.ts';
import { createKey } from '../operations/create_key.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { createKey as storeKey } from '../storage/keys.ts';
import { readReadiness } from '../storage/readiness.ts';
import { type Config, loadConfig } from './config.ts';
import { findRunningDatabase, provideDatabase } from './database_location.ts';
import { DEFAULT_TENANT } from './first_keys.ts';
import { newSecret } from './secrets.ts';
import { UsageError } from './usage_error.ts';

export const KEYS_USAGE =
  'aegis keys create --principal NAME --role ROLE [--role …] [--group GROUP …] [--owner NAME] [--tenant ID]';

interface KeyArguments {
  principal: string;
  roles: Role[];
  groups: string[];
  owner: string | undefined;
  tenantId: string;
}

function parsePrincipalArgument(text: string | undefined, option: string): string {
  const principal = text === undefined ? undefined : parsePrincipal(text);
  if (principal !== undefined) return principal;
  throw new UsageError(
    `\`--${option}\` needs a name of 1 to 128 of \`A-Z a-z 0-9 . _ @ : -\`. Usage: ${KEYS_USAGE}`,
  );
}

function parseKeyArguments(args: string[]): KeyArguments {
  const { values } = parseArgs({
    args,
    options: {
      principal: { type: 'string' },
      role: { type: 'string', multiple: true },
      group: { type: 'string', multiple: true },
      owner: { type: 'string' },
      tenant: { type: 'string' },
    },
  });
  const roles = values.role ?? [];
  const unknown = roles.find((role) => !(ROLES as readonly string[]).includes(role));
  if (roles.length === 0 || unknown !== undefined) {
    throw new UsageError(`\`--role\` needs one of ${ROLES.join(', ')}. Usage: ${KEYS_USAGE}`);
  }
  return {
    principal: parsePrincipalArgument(values.principal, 'principal'),
    roles: roles as Role[],
    groups: values.group ?? [],
    owner: values.owner === undefined ? undefined : parsePrincipalArgument(values.owner, 'owner'),
    tenantId: values.tenant ?? DEFAULT_TENANT,
  };
}

/** Runs `work` on the database of the running service, or else on one opened for it. */
async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const running = config.databaseUrl ?? findRunningDatabase(config.dataDir);
  if (running !== undefined) {
    const database = openDatabase({ url: running, poolMax: 1 });
    try {
      const readiness = await readReadiness(database, DEFAULT_TENANT);
      if (readiness.database) return await work(database);
    } finally {
      await database.close();
    }
    if (config.databaseUrl !== undefined) {
      throw new UsageError(
        'the database of DATABASE_URL cannot be reached, or was never migrated. Start the service first',
      );
    }
  }
  const opened = await provideDatabase(config, () => undefined);
  const database = openDatabase({ url: opened.url, poolMax: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
    await opened.close();
  }
}

/** `aegis keys create`: makes a key and prints its token, alone on stdout. @throws UsageError, ConfigError. */
export async function keysCommand(args: string[]): Promise<void> {
  const [subcommand, ...rest] = args;
  if (subcommand !== 'create') throw new UsageError(`Usage: ${KEYS_USAGE}`);
  const input = parseKeyArguments(rest);
  const { tenantId, ...of } = input;
  const made = await withDatabase(loadConfig(process.env), async (database) => {
    const keys = {
      createKey: (key: NewKey, makerKeyId: string | null) => storeKey(database, key, makerKeyId),
    };
    const deps = { keys, now: () => new Date(), newUuid, newSecret };
    return createKey(
      deps,
      { tenantId, principal: null, keyId: null },
      { ...of, expiresAt: undefined, limits: {} },
    );
  }).catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError([error.detail, ...(error.issues ?? []).map((issue) => issue.reason)].join('; '));
  });
  console.log(made.token);
}
