import type { Caller } from '../core/caller.ts';
import { notFound } from '../core/common_faults.ts';
import { parseId } from '../core/ids.ts';
import type { Deps } from './deps.ts';
import { maskWords } from './masking.ts';

/**
 * Revokes a key of the caller's tenant, and with it what rested on it.
 * @throws Fault `not_found`, `last_operator_key`.
 */
export async function revokeKey(
  deps: Deps,
  caller: Caller,
  id: string,
  reason: string | null,
): Promise<void> {
  const keyId = parseId('key', id);
  if (keyId === undefined) throw notFound();
  await deps.keys.revokeKey(caller.tenantId, keyId, maskWords(caller, reason), caller.keyId);
}
