import type postgres from 'postgres';
import type { SourceTrust, Tier } from '../core/action.ts';
import { type Caller, type Role, UNRATED } from '../core/caller.ts';

/** What a statement that looks a credential up selects of it, by `selectCaller` from `callerTables`. */
export interface CallerRow {
  key_id: string;
  tenant_id: string;
  principal: string;
  roles: Role[];
  groups: string[];
  owner: string | null;
  frozen: boolean;
  risk_tier: string | null;
  paused: boolean;
  tier: Tier;
  mask_key: string;
  active_revision: string;
  source_trust_ceiling: SourceTrust;
  environments: string[] | null;
  workspaces: string[] | null;
  unattended: boolean;
  workspace_root: string | null;
  skill: boolean;
  expires_at: string | null;
}

/** The columns of a `CallerRow`. */
export function selectCaller(sql: postgres.Sql) {
  return sql`k.key_id, k.tenant_id, k.principal, k.roles, p.groups, p.owner,
               k.frozen_at is not null as frozen, k.source_trust_ceiling, k.environments, k.workspaces,
               k.unattended, k.workspace_root, k.skill, k.expires_at, p.risk_tier, t.tier, t.active_revision, t.mask_key,
               a.paused_at is not null as paused`;
}

/** A key `k` with its principal, tenant and pause. */
export function callerTables(sql: postgres.Sql) {
  return sql`keys k join principals p on p.tenant_id = k.tenant_id and p.principal = k.principal
          join tenants t on t.tenant_id = k.tenant_id
          left join agent_pauses a on a.tenant_id = k.tenant_id and a.agent = k.principal`;
}

/** True of a key `k` that is neither revoked nor expired, and whose principal is not disabled. */
export function keyStandsNow(sql: postgres.Sql) {
  return sql`k.revoked_at is null and k.disabled_at is null
          and (k.expires_at is null or k.expires_at > clock_timestamp())`;
}

/** The caller that a row is of. */
export function toCaller(row: CallerRow): Caller {
  return {
    tenantId: row.tenant_id,
    principal: row.principal,
    roles: row.roles,
    groups: row.groups,
    owner: row.owner,
    keyId: row.key_id,
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
    frozen: row.frozen,
    riskTier: row.risk_tier ?? UNRATED,
    paused: row.paused,
    tenant: { tier: row.tier, activeRevision: row.active_revision, maskKey: row.mask_key },
    limits: {
      sourceTrustCeiling: row.source_trust_ceiling,
      environments: row.environments,
      workspaces: row.workspaces,
      unattended: row.unattended,
      workspaceRoot: row.workspace_root,
      skill: row.skill,
    },
  };
}
