import type { Grant } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

/** The grants of the caller's tenant that are in force, newest first, those used up among them. */
export function listGrants(deps: Deps, caller: Caller, agent: string | null): Promise<Grant[]> {
  return deps.grants.list(caller.tenantId, agent);
}
