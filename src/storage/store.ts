import type { DenialStore, GrantStore, PrincipalStore, SessionStore } from '../core/agent_ports.ts';
import type { ApprovalStore } from '../core/approval_ports.ts';
import type { AskerStore } from '../core/asker_ports.ts';
import type { ConsoleSessionStore, OidcLoginStore } from '../core/console_ports.ts';
import type { EventStore, ExpiryStore } from '../core/event_ports.ts';
import type { ExecApprovalsStore } from '../core/exec_ports.ts';
import type { DecisionStore, IdempotencyStore, KeyStore, TenantStore } from '../core/ports.ts';
import type { RevisionStore } from '../core/rules_ports.ts';
import type { SlackStore } from '../core/slack_ports.ts';
import type { PasskeyStore } from '../core/webauthn_ports.ts';
import type { WebhookStore } from '../core/webhook_ports.ts';
import { findLastDecidedAt, listApprovals, listPendingCommands } from './approval_list.ts';
import { createApprovalFind } from './approval_rows.ts';
import { createTransition } from './approval_transition.ts';
import { createApprovalViews } from './approval_views.ts';
import { createAskerLeases } from './asker_leases.ts';
import { createAskRecorder } from './asks.ts';
import { createCallerLookup } from './callers.ts';
import { createConsoleSessionStore } from './console_sessions.ts';
import { createConsume } from './consume.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { createDecisionRecorder } from './decisions.ts';
import { createDenialStore } from './denials.ts';
import { createEventStore } from './events.ts';
import { createExecApprovalsStore } from './exec_approvals.ts';
import { createExpiryStore } from './expiries.ts';
import { createGrantStore } from './grants.ts';
import { createIdempotencyStore } from './idempotency.ts';
import { createKey, listKeys } from './keys.ts';
import { createOidcLoginStore } from './oidc_logins.ts';
import { createPasskeyStore } from './passkeys.ts';
import { createPrincipalStore } from './principals.ts';
import { createRevisionStore } from './revisions.ts';
import { createRevokeKey } from './revoke_key.ts';
import { createSessionStore } from './sessions.ts';
import type { SignalPublisher } from './signals.ts';
import { createSlackStore } from './slack.ts';
import { createAssertKeyStands, readActiveRevision } from './standing.ts';
import { createTenant } from './tenants.ts';
import { createWebhookStore } from './webhooks.ts';

export interface Store {
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
  revisions: RevisionStore;
  slack: SlackStore;
  passkeys: PasskeyStore;
  webhooks: WebhookStore;
}

/** The ports of the operations over one database. */
export function createStore(database: Database, publisher: SignalPublisher): Store {
  return {
    keys: {
      findCaller: createCallerLookup(database),
      assertStands: createAssertKeyStands(database),
      createKey: (...args) => createKey(database, ...args),
      listKeys: (tenantId) => listKeys(database, tenantId),
      revokeKey: createRevokeKey(database, publisher),
    },
    tenants: {
      createTenant: (...args) => createTenant(database, ...args),
      readActiveRevision: (tenantId) => guarded(() => readActiveRevision(database.db, tenantId)),
    },
    decisions: {
      recordDecision: createDecisionRecorder(database),
      recordDecisionWith: createAskRecorder(database, publisher),
    },
    idempotency: createIdempotencyStore(database),
    revisions: createRevisionStore(database, publisher),
    approvals: {
      find: createApprovalFind(database),
      findLastDecidedAt: (tenantId) => guarded(() => findLastDecidedAt(database.db, tenantId)),
      list: (tenantId, filter) => guarded(() => listApprovals(database.db, tenantId, filter)),
      transition: createTransition(database, publisher),
      consume: createConsume(database, publisher),
      ...createApprovalViews(database),
    },
    askers: {
      ...createAskerLeases(database, publisher),
      listPendingCommands: (tenantId) => guarded(() => listPendingCommands(database.db, tenantId)),
    },
    principals: createPrincipalStore(database, publisher),
    sessions: createSessionStore(database),
    denials: createDenialStore(database),
    grants: createGrantStore(database),
    execApprovals: createExecApprovalsStore(database, publisher),
    consoleSessions: createConsoleSessionStore(database, publisher),
    oidcLogins: createOidcLoginStore(database),
    events: createEventStore(database),
    slack: createSlackStore(database),
    expiries: createExpiryStore(database, publisher),
    passkeys: createPasskeyStore(database),
    webhooks: createWebhookStore(database, publisher),
  };
}
