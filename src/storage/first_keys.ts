import { and, eq, isNull, ne, sql } from 'drizzle-orm';
import type { NewKey } from '../core/ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { insertKey } from './keys.ts';
import { revokeKeyIn } from './revoke_key.ts';
import { keys } from './schema.ts';

/** Any constant: processes that start on one database contend for this advisory lock. */
const FIRST_KEYS_LOCK = 7_226_332;

/**
 * Processes that start together make first keys one after the other. No row is held: rows are taken keys first, and
 * which keys there are to revoke is found out only then.
 */
async function takeTurn(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_KEYS_LOCK})`);
}

/**
 * Makes a tenant's first keys if it has never had any. `keep` is called before the commit: tokens that could not
 * be kept are never made. False when there were keys.
 */
export function createFirstKeys(
  database: Database,
  tenantId: string,
  firstKeys: NewKey[],
  keep: () => void,
): Promise<boolean> {
  return guarded(() =>
    database.db.transaction(async (tx) => {
      await takeTurn(tx);
      const [any] = await tx
        .select({ keyId: keys.keyId })
        .from(keys)
        .where(eq(keys.tenantId, tenantId))
        .limit(1);
      if (any !== undefined) return false;
      for (const key of firstKeys) await insertKey(tx, key);
      keep();
      return true;
    }),
  );
}

/**
 * What became of the bootstrap key, which its principal may disable or freeze as well; `changed` names former keys
 * revoked and approvals that rested on them.
 */
export interface EnsuredBootstrapKey {
  state: 'stands' | 'revoked' | 'suspended';
  changed: string[];
}

/** The bootstrap key by its token, as it is kept. */
async function findByToken(tx: Executor, tokenHash: string) {
  const [key] = await tx
    .select({ revokedAt: keys.revokedAt, disabledAt: keys.disabledAt, frozenAt: keys.frozenAt })
    .from(keys)
    .where(eq(keys.tokenHash, tokenHash));
  return key;
}

/**
 * Makes the bootstrap key if its token is not known, and revokes former bootstrap keys with what rested on them. One
 * that was revoked, or whose principal has no standing, stays so, and then revokes no other: the tenant would be left
 * without an operator.
 */
export function ensureBootstrapKey(database: Database, key: NewKey): Promise<EnsuredBootstrapKey> {
  return guarded(() =>
    database.db.transaction(async (tx) => {
      await takeTurn(tx);
      if ((await findByToken(tx, key.tokenHash)) === undefined) await insertKey(tx, key);
      const known = await findByToken(tx, key.tokenHash);
      if (known === undefined) throw new Error('a key just written is not there');
      if (known.revokedAt !== null) return { state: 'revoked', changed: [] };
      if (known.disabledAt !== null || known.frozenAt !== null) return { state: 'suspended', changed: [] };
      const former = await tx
        .select({ keyId: keys.keyId })
        .from(keys)
        .where(
          and(
            eq(keys.tenantId, key.tenantId),
            eq(keys.origin, 'bootstrap'),
            ne(keys.tokenHash, key.tokenHash),
            isNull(keys.revokedAt),
          ),
        )
        .orderBy(keys.keyId);
      const changed: string[] = [];
      for (const { keyId } of former) {
        changed.push(keyId, ...(await revokeKeyIn(tx, key.tenantId, keyId, 'replaced')));
      }
      return { state: 'stands', changed };
    }),
  );
}
