import type { Tier } from '../core/action.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

/** The settings of the caller's tenant as they hold now. */
export async function getSettings(deps: Deps, caller: Caller): Promise<{ tier: Tier }> {
  return { tier: await deps.principals.readTier(caller.tenantId) };
}
