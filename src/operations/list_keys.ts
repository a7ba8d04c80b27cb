import type { Caller } from '../core/caller.ts';
import type { KeyRecord } from '../core/ports.ts';
import type { Deps } from './deps.ts';

/** All keys of the caller's tenant, newest first, without their secrets. */
export function listKeys(deps: Deps, caller: Caller): Promise<KeyRecord[]> {
  return deps.keys.listKeys(caller.tenantId);
}
