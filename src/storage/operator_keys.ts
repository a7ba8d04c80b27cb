import { and, arrayContains, asc, eq, isNull, or, type SQL } from 'drizzle-orm';
import { Fault } from '../core/fault.ts';
import type { Executor } from './database.ts';
import { keys } from './schema.ts';
import { keyStands } from './standing.ts';

const isOperatorKey = arrayContains(keys.roles, ['operator']);

export interface LockedKey {
  keyId: string;
  principal: string;
}

/**
 * Takes the rows of the keys that `which` names and of all operator keys of the tenant, in id order: operators take
 * standing away one after the other, so that two cannot take the last two keys from each other.
 */
export function lockKeys(tx: Executor, tenantId: string, which: SQL | undefined): Promise<LockedKey[]> {
  return tx
    .select({ keyId: keys.keyId, principal: keys.principal })
    .from(keys)
    .where(and(eq(keys.tenantId, tenantId), or(which, isOperatorKey)))
    .orderBy(asc(keys.keyId))
    .for('update');
}

/**
 * Refuses to take the standing of the keys that `isLost` names when no other operator key of the tenant stands; run
 * under `lockKeys`.
 * @throws Fault `last_operator_key`.
 */
export async function assertOperatorRemains(
  tx: Executor,
  tenantId: string,
  isLost: (key: LockedKey) => boolean,
): Promise<void> {
  const standing = await tx
    .select({ keyId: keys.keyId, principal: keys.principal })
    .from(keys)
    .where(and(eq(keys.tenantId, tenantId), isOperatorKey, keyStands, isNull(keys.frozenAt)));
  if (standing.some((key) => !isLost(key))) return;
  throw new Fault(
    'last_operator_key',
    'this would leave the tenant without an operator key. Make another with `POST /v1/keys` first',
  );
}
