import type { SourceTrust, Tier } from './action.ts';

export const ROLES = ['agent', 'approver', 'operator', 'auditor', 'platform'] as const;
export type Role = (typeof ROLES)[number];

/** The risk tier of a principal that no operator has rated. */
export const UNRATED = 'unrated';

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

/** The limits of a key that names none: it is bound by policy alone. */
export const NO_LIMITS: KeyLimits = {
  sourceTrustCeiling: 'trusted_internal',
  environments: null,
  workspaces: null,
  unattended: false,
  workspaceRoot: null,
  skill: false,
};

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
  /** An agent's, as policy sees it. */
  riskTier: string;
  /** Whether all of this agent's asks are denied until somebody resumes it. */
  paused: boolean;
  /** The tenant's settings and rules when the credential was looked up. */
  tenant: {
    tier: Tier;
    activeRevision: string;
    /** Keys the fingerprints of masked values. */
    maskKey: string;
  };
  limits: KeyLimits;
}
