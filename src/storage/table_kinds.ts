/**
 * TENANT WALL: every table is of one of two kinds. In a tenant table each key, index and statement leads with
 * `tenant_id`. A global table is read before a tenant is known, or holds no tenant's data; each says why.
 */
export const TENANT_TABLES = [
  'tenants',
  'principals',
  'decisions',
  'approvals',
  'votes',
  'idempotency_keys',
  'sessions',
  'agent_pauses',
  'denials',
  'runs',
  'grants',
  'exec_approvals',
  'exec_entry_uses',
  'revisions',
  'activations',
  'approval_events',
  'approval_views',
  'event_cursors',
  'webhooks',
  'webhook_deliveries',
  'slack_messages',
  'passkeys',
  'enrolment_codes',
  'webauthn_challenges',
] as const;

export const GLOBAL_TABLES = {
  keys: 'credential look-up: the tenant is what the look-up answers',
  console_sessions: 'credential look-up, of the console: its key has the tenant',
  oidc_logins: 'sign-ins that are at the provider: who comes back has no tenant yet',
  base_rules: 'the policy folder, which every tenant starts from',
  rate_limits: 'failure counters by hashed key, address limits among them',
  schema_migrations: 'which migrations were applied',
} as const;
