import { v7 as newUuid } from 'uuid';
import { ROLES, type Role } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import { GROUP_NAME, parsePrincipal } from '../core/identifiers.ts';
import { OperatorError } from '../core/operator_error.ts';
import type { NewKey } from '../core/ports.ts';
import { createKey } from '../operations/create_key.ts';
import { createKey as storeKey } from '../storage/keys.ts';
import { readArguments } from './arguments.ts';
import { loadConfig } from './config.ts';
import { DEFAULT_TENANT } from './first_keys.ts';
import { newSecret } from './secrets.ts';
import { assertTenant, withDatabase } from './with_database.ts';

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

const OPTIONS = {
  principal: { type: 'string' },
  role: { type: 'string', multiple: true },
  group: { type: 'string', multiple: true },
  owner: { type: 'string' },
  tenant: { type: 'string' },
} as const;

function parseKeyArguments(args: string[]): KeyArguments {
  const { values } = readArguments(args, OPTIONS, KEYS_USAGE);
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
