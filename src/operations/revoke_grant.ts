import type { Caller } from '../core/caller.ts';
import { notFound } from '../core/common_faults.ts';
import { parseId } from '../core/ids.ts';
import type { Deps } from './deps.ts';

/** Ends a grant; what it would have answered is asked again. @throws Fault `not_found`. */
export async function revokeGrant(deps: Deps, caller: Caller, id: string): Promise<void> {
  const grantId = parseId('grant', id);
  if (grantId === undefined) throw notFound();
  await deps.grants.revoke(caller, grantId);
}
