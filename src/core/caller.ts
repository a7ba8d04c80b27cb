import type { SourceTrust } from './action.ts';

export const ROLES = ['agent', 'approver', 'operator', 'auditor', 'platform'] as const;
export type Role = (typeof ROLES)[number];

/** What qualifies an agent's key: each can only tighten what a call claims of itself. */
export interface KeyLimits {
  sourceTrustCeiling: SourceTrust;
  /** Environments the key may act in; null means any. */
  environments: string[] | null;
  /** Workspaces the key may act in; null means any. */
  workspaces: string[] | null;
  unattended: boolean;
  workspaceRoot: string | null;
  skill: boolean;
}

/** Who calls: always taken from the credential, never from the request. */
export interface Caller {
  tenantId: string;
  principal: string;
  roles: readonly Role[];
  groups: readonly string[];
  owner: string | null;
  keyId: string;
  expiresAt: Date | null;
  frozen: boolean;
  limits: KeyLimits;
}
