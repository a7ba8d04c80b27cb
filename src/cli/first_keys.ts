import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_LIMITS } from '../core/caller.ts';
import { sha256Hex } from '../core/digest.ts';
import type { NewKey } from '../core/ports.ts';
import type { Deps } from '../operations/deps.ts';
import { makeToken } from '../operations/make_token.ts';
import type { Database } from '../storage/database.ts';
import { createFirstKeys, type EnsuredBootstrapKey, ensureBootstrapKey } from '../storage/first_keys.ts';

/** The tenant of a service that has only one. */
export const DEFAULT_TENANT = 'default';

type TokenMaker = Pick<Deps, 'newUuid' | 'newSecret'>;

/** A first key's place in the environment of whoever tries the service, and who it is for. */
const FIRST_KEYS = {
  AGENT: { principal: 'agent-1', roles: ['agent'], groups: [] },
  APPROVER: { principal: 'approver-1', roles: ['approver'], groups: ['finance'] },
  APPROVER2: { principal: 'approver-2', roles: ['approver'], groups: ['security'] },
  OPERATOR: { principal: 'operator-1', roles: ['operator'], groups: [] },
} as const satisfies Record<string, Pick<NewKey, 'principal' | 'roles' | 'groups'>>;

/** Tokens by the name of their variable. */
export type FirstTokens = Record<keyof typeof FIRST_KEYS, string>;

export const FIRST_KEYS_FILE = 'first-keys.json';

function toNewKey(
  of: { principal: string; roles: NewKey['roles']; groups: NewKey['groups'] },
  made: { keyId: string; tokenHash: string },
  origin: NewKey['origin'],
): NewKey {
  return {
    tenantId: DEFAULT_TENANT,
    keyId: made.keyId,
    tokenHash: made.tokenHash,
    principal: of.principal,
    roles: of.roles,
    groups: of.groups,
    owner: null,
    defaultOwner: null,
    limits: NO_LIMITS,
    createdBy: null,
    expiresAt: null,
    origin,
  };
}

/** Writes the tokens where only the service's user reads them; a file of another database is kept aside. */
function keepTokens(dataDir: string, tokens: FirstTokens): string {
  const path = join(dataDir, FIRST_KEYS_FILE);
  if (existsSync(path)) renameSync(path, join(dataDir, `first-keys.${Date.now()}.json`));
  writeFileSync(path, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600, flush: true });
  return path;
}

/**
 * Makes the first keys of a database that has none, and keeps them in the data folder before they exist, so that
 * they cannot be lost. Undefined when there were keys.
 */
export async function makeFirstKeys(
  database: Database,
  maker: TokenMaker,
  dataDir: string,
): Promise<{ tokens: FirstTokens; path: string } | undefined> {
  const made = Object.entries(FIRST_KEYS).map(([name, of]) => ({ name, of, ...makeToken(maker) }));
  const tokens = Object.fromEntries(made.map(({ name, token }) => [name, token])) as FirstTokens;
  const newKeys = made.map((key) =>
    toNewKey({ ...key.of, roles: [...key.of.roles], groups: [...key.of.groups] }, key, 'first_start'),
  );
  let path = '';
  const wereMade = await createFirstKeys(database, DEFAULT_TENANT, newKeys, () => {
    path = keepTokens(dataDir, tokens);
  });
  return wereMade ? { tokens, path } : undefined;
}

/** Makes the operator and platform key whose token the configuration gives. */
export function makeBootstrapKey(
  database: Database,
  maker: TokenMaker,
  token: string,
): Promise<EnsuredBootstrapKey> {
  const of = { principal: 'operator-1', roles: ['operator', 'platform'] as NewKey['roles'], groups: [] };
  const made = { keyId: maker.newUuid(), tokenHash: sha256Hex(token) };
  return ensureBootstrapKey(database, toNewKey(of, made, 'bootstrap'));
}
