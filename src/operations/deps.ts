import type { DenialStore, GrantStore, PrincipalStore, SessionStore } from '../core/agent_ports.ts';
import type { ApprovalStore } from '../core/approval_ports.ts';
import type { AskerStore } from '../core/asker_ports.ts';
import type { ConsoleSessionStore, OidcLoginStore } from '../core/console_ports.ts';
import type { EventStore, ExpiryStore } from '../core/event_ports.ts';
import type { ExecApprovalsStore } from '../core/exec_ports.ts';
import type {
  DecisionStore,
  IdempotencyStore,
  KeyStore,
  Metrics,
  NewUuid,
  Signals,
  TenantStore,
  Throttle,
} from '../core/ports.ts';
import type { PublicUrl } from '../core/public_url.ts';
import type { PolicyCompiler, PolicySource, RevisionStore } from '../core/rules_ports.ts';
import type { SlackStore } from '../core/slack_ports.ts';
import type { PasskeyStore } from '../core/webauthn_ports.ts';
import type { WebhookStore, WebhookTargets } from '../core/webhook_ports.ts';
import type { EventFeeds } from './events/event_feeds.ts';

/** Limits and modes that an operator sets. */
export interface Settings {
  /** The longest life of an approval; a policy only shortens it. */
  approvalTtlSeconds: number;
  pendingLimit: number;
  askLimitPerHour: number;
  attemptLimit: number;
  policyDrift: 'revalidate' | 'strict';
  /** How long a rejection holds beyond its own session. */
  denialSeconds: number;
}

/** What every operation works with; ports only, so that no operation knows HTTP, SQL or Cedar. */
export interface Deps {
  policy: PolicySource;
  compiler: PolicyCompiler;
  revisions: RevisionStore;
  keys: KeyStore;
  tenants: TenantStore;
  decisions: DecisionStore;
  idempotency: IdempotencyStore;
  approvals: ApprovalStore;
  askers: AskerStore;
  principals: PrincipalStore;
  sessions: SessionStore;
  denials: DenialStore;
  grants: GrantStore;
  execApprovals: ExecApprovalsStore;
  consoleSessions: ConsoleSessionStore;
  oidcLogins: OidcLoginStore;
  events: EventStore;
  expiries: ExpiryStore;
  eventFeeds: EventFeeds;
  slack: SlackStore;
  passkeys: PasskeyStore;
  webhooks: WebhookStore;
  webhookTargets: WebhookTargets;
  throttle: Throttle;
  signals: Signals;
  metrics: Metrics;
  newUuid: NewUuid;
  /** A secret of at least 43 of `[0-9A-Za-z]`. */
  newSecret: () => string;
  /** The process's clock: for what policy is told and for timers; expiry is judged by the database's. */
  now: () => Date;
  settings: Settings;
  /** The service's own address; passkeys are bound to it. */
  publicUrl: PublicUrl;
}
