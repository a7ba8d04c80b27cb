import type { Caller } from '../../core/caller.ts';
import type { RevisionRecord } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';

/** Every revision that the caller's tenant has had, newest first. */
export function listRevisions(deps: Deps, caller: Caller): Promise<RevisionRecord[]> {
  return deps.revisions.list(caller.tenantId);
}
