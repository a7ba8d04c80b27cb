import type {
  ApprovalStore,
  DecisionStore,
  IdempotencyStore,
  KeyStore,
  Metrics,
  NewUuid,
  PolicySource,
  Signals,
  TenantStore,
  Throttle,
} from '../core/ports.ts';

/** Limits and modes that an operator sets. */
export interface Settings {
  /** The longest life of an approval; a policy only shortens it. */
  approvalTtlSeconds: number;
  pendingLimit: number;
  askLimitPerHour: number;
  attemptLimit: number;
  policyDrift: 'revalidate' | 'strict';
}

/** What every operation works with; ports only, so that no operation knows HTTP, SQL or Cedar. */
export interface Deps {
  policy: PolicySource;
  keys: KeyStore;
  tenants: TenantStore;
  decisions: DecisionStore;
  idempotency: IdempotencyStore;
  approvals: ApprovalStore;
  throttle: Throttle;
  signals: Signals;
  metrics: Metrics;
  newUuid: NewUuid;
  /** A secret of at least 43 of `[0-9A-Za-z]`. */
  newSecret: () => string;
  /** The process's clock: for what policy is told and for timers; expiry is judged by the database's. */
  now: () => Date;
  settings: Settings;
}
