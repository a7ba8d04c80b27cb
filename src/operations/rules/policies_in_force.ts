import type { PolicyTexts } from '../../core/rules.ts';
import type { ActiveRules } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';

/** Something about a set that works and is probably not meant. */
export interface PolicyWarning {
  policyId: string;
  message: string;
  help: string;
}

/** The set in force for a tenant, and who put it there: null for the policy folder. */
export interface PoliciesInForce {
  revision: string;
  activatedAt: Date;
  activatedBy: string | null;
  base: PolicyTexts;
  tenant: PolicyTexts;
  warnings: PolicyWarning[];
}

/** Asks for a vote of a group that nobody is in: whatever they ask is denied, since nobody could answer. */
async function findLonelyAsks(deps: Deps, tenantId: string, revision: string): Promise<PolicyWarning[]> {
  const policy = await deps.policy.load(tenantId, revision);
  const known = new Set(await deps.principals.listGroups(tenantId));
  return policy.groupDemands.flatMap(({ policyId, groups }) =>
    groups
      .filter((group) => !known.has(group))
      .map((group) => ({
        policyId,
        message: `no principal is in the group \`${group}\``,
        help: 'Put somebody in it with `PUT /v1/principals/:id`, or correct its name.',
      })),
  );
}

/** The rules in force as an operator is shown them. @throws Fault `unavailable`. */
export async function toPoliciesInForce(
  deps: Deps,
  tenantId: string,
  active: ActiveRules,
): Promise<PoliciesInForce> {
  const { revision, activatedAt, activatedBy, rules } = active;
  const warnings = await findLonelyAsks(deps, tenantId, revision);
  return {
    revision,
    activatedAt,
    activatedBy,
    base: rules.base.policies,
    tenant: rules.policies,
    warnings,
  };
}
