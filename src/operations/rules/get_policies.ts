import type { Caller } from '../../core/caller.ts';
import type { PolicyTexts } from '../../core/rules.ts';
import type { ActiveRules } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';

/** The set in force for a tenant, and who put it there: null for the policy folder. */
export interface PoliciesInForce {
  revision: string;
  activatedAt: Date;
  activatedBy: string | null;
  base: PolicyTexts;
  tenant: PolicyTexts;
}

export function toPoliciesInForce(active: ActiveRules): PoliciesInForce {
  const { revision, activatedAt, activatedBy, rules } = active;
  return { revision, activatedAt, activatedBy, base: rules.base.policies, tenant: rules.policies };
}

/** The policies that decide for the caller's tenant. @throws Fault `unavailable`. */
export async function getPolicies(deps: Deps, caller: Caller): Promise<PoliciesInForce> {
  return toPoliciesInForce(await deps.revisions.readActive(caller.tenantId));
}
