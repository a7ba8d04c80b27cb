import { parseArgs } from 'node:util';
import { v7 as newUuid } from 'uuid';
import { ROLES, type Role } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { GROUP_NAME, parsePrincipal } from '../core/identifiers.ts';
import { OperatorError } from '../core/operator_error.ts';
import type { NewKey } from '../core/ports.ts';
import { createKey } from '../operations/create_key.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { isPrepared } from '../storage/embedded/embedded_postgres.ts';
import { createKey as storeKey } from '../storage/keys.ts';
import { readReadiness } from '../storage/readiness.ts';
import { findActiveRevision } from '../storage/tenants.ts';
import { type Config, loadConfig } from './config.ts';
import { oneLine } from './config_values.ts';
import { findRunningDatabase, provideDatabase } from './database_location.ts';
import { DEFAULT_TENANT } from './first_keys.ts';
import { newSecret } from './secrets.ts';

export const KEYS_USAGE =
  'aegis keys create --principal NAME --role ROLE [--role …] [--group GROUP …] [--owner NAME] [--tenant ID]';

/** `platform` is never granted: the first start alone makes a key with it. */
const GRANTED_ROLES: readonly string[] = ROLES.filter((role) => role !== 'platform');

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
  throw new OperatorError(
    `\`--${option}\` needs a name of 1 to 128 of \`A-Z a-z 0-9 . _ @ : -\`. Usage: ${KEYS_USAGE}`,
  );
}

/** @throws OperatorError for an option that is unknown or has no value. */
function parseOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        principal: { type: 'string' },
        role: { type: 'string', multiple: true },
        group: { type: 'string', multiple: true },
        owner: { type: 'string' },
        tenant: { type: 'string' },
      },
    }).values;
  } catch (error) {
    // node's own message goes on with advice for scripts; its first sentence names the option.
    const [what = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw new OperatorError(`${oneLine(what.replaceAll("'", '`'))}. Usage: ${KEYS_USAGE}`, error);
  }
}

function parseKeyArguments(args: string[]): KeyArguments {
  const values = parseOptions(args);
  const roles = values.role ?? [];
  const unknown = roles.find((role) => !GRANTED_ROLES.includes(role));
  if (roles.length === 0 || unknown !== undefined) {
    throw new OperatorError(`\`--role\` needs one of ${GRANTED_ROLES.join(', ')}. Usage: ${KEYS_USAGE}`);
  }
  if (values.group?.some((group) => !GROUP_NAME.test(group)) === true) {
    throw new OperatorError(
      `\`--group\` needs a name of 1 to 64 of \`A-Z a-z 0-9 . _ @ : -\`. Usage: ${KEYS_USAGE}`,
    );
  }
  return {
    principal: parsePrincipalArgument(values.principal, 'principal'),
    roles: roles as Role[],
    groups: values.group ?? [],
    owner: values.owner === undefined ? undefined : parsePrincipalArgument(values.owner, 'owner'),
    tenantId: values.tenant ?? DEFAULT_TENANT,
  };
}

const NEVER_STARTED =
  'Start it once with `aegis serve`, or set AEGIS_DATA_DIR or DATABASE_URL as it has them';

/** Opens a database for `work`; undefined when it does not answer or was never migrated. */
async function workOn<T>(url: string, work: (database: Database) => Promise<T>): Promise<T | undefined> {
  const database = openDatabase({ url, poolMax: 1 });
  try {
    const readiness = await readReadiness(database, DEFAULT_TENANT);
    return readiness.database ? await work(database) : undefined;
  } finally {
    await database.close();
  }
}

/** Runs `work` on the database of the running service, or else on the embedded one, started for it. */
async function withDatabase<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const { dataDir, databaseUrl } = config;
  const running = databaseUrl ?? findRunningDatabase(dataDir);
  const done = running === undefined ? undefined : await workOn(running, work);
  if (done !== undefined) return done;
  if (databaseUrl !== undefined) {
    throw new OperatorError(
      'the database of DATABASE_URL cannot be reached, or was never migrated. Start it, and the service once',
    );
  }
  if (!(await isPrepared(dataDir))) {
    throw new OperatorError(`no service has kept its data in \`${oneLine(dataDir)}\`. ${NEVER_STARTED}`);
  }
  const opened = await provideDatabase(config, () => undefined);
  try {
    const made = await workOn(opened.url, work);
    if (made !== undefined) return made;
    throw new OperatorError(`the database in \`${oneLine(dataDir)}\` was never migrated. ${NEVER_STARTED}`);
  } finally {
    await opened.close();
  }
}

async function assertTenant(database: Database, tenantId: string): Promise<void> {
  if ((await findActiveRevision(database, tenantId)) !== undefined) return;
  throw new OperatorError(
    `there is no tenant \`${oneLine(tenantId)}\`. Make it with \`POST /v1/tenants\`, or leave \`--tenant\` out`,
  );
}

/** `aegis keys create`: makes a key and prints its token, alone on stdout. @throws OperatorError, ConfigError. */
export async function keysCommand(args: string[]): Promise<void> {
  const [subcommand, ...rest] = args;
  if (subcommand !== 'create') throw new OperatorError(`Usage: ${KEYS_USAGE}`);
  const input = parseKeyArguments(rest);
  const { tenantId, ...of } = input;
  const made = await withDatabase(loadConfig(process.env), async (database) => {
    await assertTenant(database, tenantId);
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
    const reasons = error.issues?.map((issue) => issue.reason).join('; ');
    throw new OperatorError(reasons === undefined ? error.detail : `the key cannot be made so: ${reasons}`);
  });
  console.log(made.token);
}
