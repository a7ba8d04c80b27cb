import type { Approval } from '../../core/approval.ts';
import type { Caller } from '../../core/caller.ts';
import type { Deps } from '../deps.ts';

/** Every command of the caller's tenant that waits for a person, oldest first; none whose asker is gone. */
export function listPendingCommands(deps: Deps, caller: Caller): Promise<Approval[]> {
  return deps.askers.listPendingCommands(caller.tenantId);
}
