import type { Tier } from '../core/action.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

/** Sets the caller's tenant; every call decided from the commit on follows. */
export async function putSettings(
  deps: Deps,
  caller: Caller,
  settings: { tier: Tier },
): Promise<{ tier: Tier }> {
  await deps.principals.putTier(caller, settings.tier);
  return settings;
}
