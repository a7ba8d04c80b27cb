import { randomUUID } from 'node:crypto';
import type { Role } from '../../src/core/caller.ts';
import type { AnyRoute } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { GLOBAL_TABLES, TENANT_TABLES } from '../../src/storage/table_kinds.ts';
import type { ApiAnswer, ApiClient, CallOptions } from '../support/api_client.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

/** A service with one thing of every kind to aim at, where no limit hides a refusal behind a 429. */
export interface World {
  service: TestService;
  /** Ids in the callers' own tenant. */
  pendingId: string;
  approvedId: string;
  consumedId: string;
  keyId: string;
  denialId: string;
  grantId: string;
  webhookId: string;
  /** Ids of another tenant: an approval and a key. */
  foreignApprovalId: string;
  foreignKeyId: string;
  /** A client that may call the route, and its token. */
  clientOf(route: AnyRoute): ApiClient;
  tokenOf(route: AnyRoute): string;
}

const UNLIMITED = {
  AEGIS_APPROVAL_ATTEMPT_LIMIT: '1000000',
  AEGIS_IP_FAILURE_LIMIT_PER_MINUTE: '1000000',
  AEGIS_PENDING_LIMIT: '1000000',
  AEGIS_ASK_LIMIT_PER_HOUR: '1000000',
  AEGIS_WEBHOOK_ALLOW: '127.0.0.0/8',
};

/** A policy that says nothing of what the batteries ask for. */
const SPARE_POLICY =
  '@id("no-lamps") forbid (principal is Aegis::Agent, action == Aegis::Action::"crm.delete_customer", resource);';

/** An agent that no client of these batteries is: it may be frozen, disabled and paused. */
const SPARE_AGENT = 'agent-9';

/** To where nothing listens. */
const WEBHOOK = { url: 'http://127.0.0.1:9/hook', events: ['approval.voided'] };
/** Nothing was sent to it yet. */
const UNKNOWN_DELIVERY = 'dlv_01890a5d-ac96-774b-bcce-b302099a8057';

export async function startWorld(): Promise<World> {
  const service = await startTestService({ env: UNLIMITED });
  const { agent, approver, operator, tokens } = service;
  await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
  const auditor = await makeKey(operator, { principal: 'auditor-1', roles: ['auditor'] });
  const spare = await makeKey(operator, { principal: SPARE_AGENT, roles: ['agent'] });
  const grantId = await makeGrant(service);
  const consumedId = await askApproved(agent, approver);
  await agent.post(`/v1/approvals/${consumedId}/consume`);
  await approver.post(`/v1/approvals/${await ask(agent)}/reject`);
  const denials = await operator.get('/v1/denials');
  const foreign = await makeForeignTenant(service);
  const webhook = await operator.post('/v1/webhooks', WEBHOOK);
  const tokenByRole: Record<Role, string> = {
    agent: tokens.AGENT,
    approver: tokens.APPROVER,
    operator: tokens.OPERATOR,
    platform: tokens.OPERATOR,
    auditor: auditor.token,
  };
  const tokenOf = ({ roles }: AnyRoute) => tokenByRole[roles === 'any' ? 'agent' : (roles[0] ?? 'agent')];
  return {
    service,
    pendingId: await ask(agent),
    approvedId: await askApproved(agent, approver),
    consumedId,
    keyId: spare.id,
    denialId: denials.body.items[0].denial_id,
    grantId,
    webhookId: webhook.body.webhook_id,
    ...foreign,
    tokenOf,
    clientOf: (route) => service.as(tokenOf(route)),
  };
}

async function makeGrant({ agent, approver, operator }: TestService): Promise<string> {
  await putTool(operator, 'deploy', 'release', RELEASE);
  await putPolicies(operator, releaseAsk('@max_scope("window")'));
  const id = await ask(agent, release('shop'));
  await approver.post(`/v1/approvals/${id}/approve`, { scope: 'window', window_seconds: 600, max_uses: 9 });
  const { body } = await operator.get('/v1/grants');
  return body.items[0].grant_id;
}

async function makeForeignTenant({ operator, as }: TestService) {
  const made = await operator.post('/v1/tenants', { tenant_id: 'other' });
  const other = as(made.body.operator_key.key);
  const agent = await makeKey(other, { principal: 'agent-1', roles: ['agent'] });
  // Without somebody who could answer, an ask is denied.
  await makeKey(other, { principal: 'approver-1', roles: ['approver'] });
  return {
    foreignKeyId: agent.id,
    foreignApprovalId: await ask(as(agent.token)),
  };
}

/** A credential as browsers write one. */
const CREDENTIAL = {
  id: 'AAAA',
  rawId: 'AAAA',
  type: 'public-key',
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
};

/** A whole and valid body for each route that takes one; a route that joins without one fails the batteries. */
const VALID_BODIES: Record<string, () => unknown> = {
  authorize: () => ({
    tool_call: refund(100, { memo: 'for the late parcel' }),
    context: {
      source_trust: 'trusted_internal',
      contains_sensitive_data: false,
      workspace: 'repo:payments',
      environment: 'production',
      session_id: 's-1',
      run_id: 'r-1',
      parent_run_id: 'r-0',
      unattended: false,
      tier: 'ask',
      justification: 'the customer asked twice',
    },
    dry_run: false,
  }),
  approveApproval: () => ({ reason: 'looks right', scope: 'once' }),
  rejectApproval: () => ({ reason: 'not today' }),
  editApproval: () => ({ tool_call: refund(7000, { memo: 'less' }), reason: 'too much' }),
  cancelApproval: () => ({ reason: 'no longer needed' }),
  consumeApproval: () => ({
    action_hash: 'a'.repeat(64),
    consumer_token: randomUUID(),
    binding: { workspace: 'repo:payments', environment: 'production', session_id: 's-1' },
  }),
  reportOutcome: () => ({
    outcome: 'executed',
    effect: 'occurred',
    enforcement_id: 'run 17',
    result_hash: 'b'.repeat(64),
    detail: 'refunded',
  }),
  createKey: () => ({
    principal: `agent-${randomUUID()}`,
    roles: ['agent'],
    groups: ['blue'],
    owner: 'approver-1',
    expires_at: '2999-01-01T00:00:00Z',
    source_trust_ceiling: 'semi_trusted',
    environments: ['production'],
    workspaces: ['repo:payments'],
    unattended: false,
    workspace_root: '/srv/work',
    skill: false,
  }),
  createTenant: () => ({ tenant_id: `t-${randomUUID()}` }),
  putPrincipal: () => ({
    groups: ['blue'],
    owner: 'approver-1',
    risk_tier: 'high',
    slack_user: `U${randomUUID()}`,
    oidc_subject: randomUUID(),
    disabled: false,
  }),
  putSettings: () => ({ tier: 'auto' }),
  putSession: () => ({ tier: 'ask' }),
  putPolicies: () => ({ text: SPARE_POLICY, note: 'lamps are harmless' }),
  validatePolicies: () => ({ text: SPARE_POLICY }),
  simulatePolicies: () => ({ text: SPARE_POLICY, since: '2020-01-01T00:00:00Z', limit: 10 }),
  explainDecision: () => ({
    ...(VALID_BODIES.authorize?.() as object),
    agent: 'agent-1',
    action_hash: 'a'.repeat(64),
  }),
  putTool: () => ({
    mutates_state: true,
    idempotent: false,
    destructive: false,
    requires_approval: false,
    permission: 'ask',
    aliases: ['lamp/light'],
    parameters_schema: { type: 'object', properties: { room: { type: 'string' } } },
    facts_by: { parameter: 'room', values: { attic: { idempotent: true } } },
    secret_parameters: ['room'],
    path_parameters: [],
    host_parameters: [],
    workspace_root: '/srv/work',
    command_parameter: null,
    argv_parameter: null,
  }),
  putExecApprovals: () => ({
    document: {
      version: 1,
      defaults: { security: 'full', ask: 'off', ask_fallback: 'deny', auto_allow_skills: false },
      agents: {
        [SPARE_AGENT]: {
          security: 'allowlist',
          ask: 'on-miss',
          ask_fallback: 'allowlist',
          auto_allow_skills: true,
          allowlist: [
            {
              id: 'jq',
              pattern: '/usr/bin/jq',
              last_used_at: '2026-01-01T00:00:00Z',
              last_used_command: 'jq .',
              last_resolved_path: '/usr/bin/jq',
            },
          ],
        },
      },
    },
    base_hash: 'a'.repeat(64),
  }),
  putToolPermissions: () => ({ items: [{ pattern: 'lamp.*', permission: 'ask' }] }),
  createWebhook: () => WEBHOOK,
  beginPasskeyRegistration: () => ({ code: 'AbCdEf0123456789' }),
  finishPasskeyRegistration: () => ({
    registration: {
      ...CREDENTIAL,
      response: {
        clientDataJSON: 'e30',
        attestationObject: 'o2Nm',
        transports: ['internal'],
        authenticatorData: 'AAAA',
        publicKey: 'AAAA',
        publicKeyAlgorithm: -7,
      },
    },
    assertion: {
      ...CREDENTIAL,
      response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA', userHandle: 'AAAA' },
    },
    label: 'blue key',
  }),
  createSignatureOptions: () => ({ decision: 'approve', scope: 'once', view_hash: 'a'.repeat(64) }),
};

/** Routes that read a body. */
export const BODY_ROUTES = ROUTES.filter((route) => route.body !== undefined);

export function validBody(route: AnyRoute): unknown {
  const make = VALID_BODIES[route.operationId];
  if (make === undefined) {
    throw new Error(`\`${route.operationId}\` has no valid body here. Add one, so that it is tested`);
  }
  return make();
}

/** The route's path with an id that is there. */
export function pathOf(route: AnyRoute, world: World): string {
  return route.path
    .replace(':agent', SPARE_AGENT)
    .replace(':session_id', 's-1')
    .replace(':tool/:action', 'lamp/on')
    .replace(':revision', 'f'.repeat(64))
    .replace(':delivery_id', UNKNOWN_DELIVERY)
    .replace(':id', idFor(route, world));
}

function idFor({ path, operationId }: AnyRoute, world: World): string {
  if (path.startsWith('/v1/keys/')) return world.keyId;
  if (path.startsWith('/v1/principals/')) return SPARE_AGENT;
  if (path.startsWith('/v1/denials/')) return world.denialId;
  if (path.startsWith('/v1/grants/')) return world.grantId;
  if (path.startsWith('/v1/webhooks/')) return world.webhookId;
  if (operationId === 'consumeApproval') return world.approvedId;
  return operationId === 'reportOutcome' ? world.consumedId : world.pendingId;
}

/** No request of these batteries may take longer; what waits for a time limit of the server is tested apart. */
const ANSWER_SECONDS_MAX = 8;

/** Calls a route; fails when there is no answer in time. */
export function callRoute(
  world: World,
  route: AnyRoute,
  sent: { path?: string; body?: unknown; options?: CallOptions; client?: ApiClient } = {},
): Promise<ApiAnswer> {
  const client = sent.client ?? world.clientOf(route);
  return client.call(route.method.toUpperCase(), sent.path ?? pathOf(route, world), sent.body, {
    ...sent.options,
    signal: AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000),
  });
}

/** Tables that are written beside all requests: counters of failures, and what is on its way to webhooks. */
const BACKGROUND_TABLES = ['rate_limits', 'webhook_deliveries'];
/** How far webhooks have come is no request's doing either. */
const COMPARED = "to_jsonb(t) - array['cursor_xid', 'cursor_seq']";

/**
 * A digest of every row of every table but those of the background: equal before and after what changed nothing.
 * `except` names tables that may change.
 */
export async function digestTables(world: World, except: readonly string[] = []): Promise<object> {
  const tables = [...TENANT_TABLES, ...Object.keys(GLOBAL_TABLES)];
  const { sql } = world.service;
  const digests: Record<string, unknown> = {};
  for (const table of tables.filter((name) => ![...BACKGROUND_TABLES, ...except].includes(name))) {
    const [row] = await sql`
      select count(*)::int as rows, md5(coalesce(string_agg(r, '|' order by r), '')) as digest
      from (select (${sql.unsafe(COMPARED)})::text as r from ${sql(table)} t) rows`;
    digests[table] = row;
  }
  return digests;
}
