import type { Caller } from '../../core/caller.ts';
import type { Deps } from '../deps.ts';
import { type PoliciesInForce, toPoliciesInForce } from './policies_in_force.ts';

/** The policies that decide for the caller's tenant. @throws Fault `unavailable`. */
export async function getPolicies(deps: Deps, caller: Caller): Promise<PoliciesInForce> {
  return toPoliciesInForce(deps, caller.tenantId, await deps.revisions.readActive(caller.tenantId));
}
