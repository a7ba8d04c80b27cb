import type { PrincipalStore } from '../core/agent_ports.ts';
import type { Role } from '../core/caller.ts';
import type { Approver } from '../core/policy.ts';
import { createSharedRead } from './batcher.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';

/** Approvers looked at for one ask. */
const APPROVERS_MAX = 1000;

interface ApproverRow {
  tenant_id: string;
  principal: string;
  groups: string[];
  roles: Role[];
}

function toApprover({ principal, groups, roles }: ApproverRow): Approver {
  return { principal, groups, roles: [...new Set<Role>(['approver', ...roles])] };
}

/**
 * Lists who could vote now: neither disabled nor frozen, and reached by a standing approver key, a Slack user or an
 * OIDC subject. Asks that arrive together share one statement.
 */
export function createListApprovers({ sql }: Database): PrincipalStore['listApprovers'] {
  const read = createSharedRead(async (tenantIds) => {
    const rows = await guarded(
      async () => sql<ApproverRow[]>`
        select a.* from unnest(${tenantIds}::text[]) as r(tenant) cross join lateral (
          select p.tenant_id, p.principal, p.groups, coalesce(standing.roles, '{}') as roles
          from principals p left join lateral (
            select array_agg(distinct role order by role) as roles from keys k, unnest(k.roles) as role
            where k.tenant_id = p.tenant_id and k.principal = p.principal and k.revoked_at is null
              and k.disabled_at is null and k.frozen_at is null
              and (k.expires_at is null or k.expires_at > clock_timestamp())) standing on true
          where p.tenant_id = r.tenant and p.disabled_at is null and p.frozen_at is null
            and ('approver' = any(standing.roles) or p.slack_user is not null or p.oidc_subject is not null)
          order by p.principal limit ${APPROVERS_MAX}) a`,
    );
    const byTenant = new Map<string, Approver[]>();
    for (const row of rows) {
      const approvers = byTenant.get(row.tenant_id) ?? [];
      approvers.push(toApprover(row));
      byTenant.set(row.tenant_id, approvers);
    }
    return byTenant;
  });
  return async (tenantId) => (await read(tenantId)) ?? [];
}
