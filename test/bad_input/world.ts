import { randomUUID } from 'node:crypto';
import type { Role } from '../../src/core/caller.ts';
import type { AnyRoute } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { GLOBAL_TABLES, TENANT_TABLES } from '../../src/storage/table_kinds.ts';
import type { ApiAnswer, ApiClient, CallOptions } from '../support/api_client.ts';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

/** A service with one thing of every kind to aim at, where no limit hides a refusal behind a 429. */
export interface World {
  service: TestService;
  /** Ids in the callers' own tenant. */
  pendingId: string;
  approvedId: string;
  consumedId: string;
  keyId: string;
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
};

export async function startWorld(): Promise<World> {
  const service = await startTestService({ env: UNLIMITED });
  const { agent, approver, operator, tokens } = service;
  await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
  const auditor = await makeKey(operator, { principal: 'auditor-1', roles: ['auditor'] });
  const spare = await makeKey(operator, { principal: 'agent-9', roles: ['agent'] });
  const consumedId = await askApproved(agent, approver);
  await agent.post(`/v1/approvals/${consumedId}/consume`);
  const foreign = await makeForeignTenant(service);
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
    ...foreign,
    tokenOf,
    clientOf: (route) => service.as(tokenOf(route)),
  };
}

async function makeForeignTenant({ operator, as }: TestService) {
  const made = await operator.post('/v1/tenants', { tenant_id: 'other' });
  const other = as(made.body.operator_key.key);
  const agent = await makeKey(other, { principal: 'agent-1', roles: ['agent'] });
  return {
    foreignKeyId: agent.id,
    foreignApprovalId: await ask(as(agent.token)),
  };
}

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
  return route.path.replace(':id', idFor(route, world));
}

function idFor({ path, operationId }: AnyRoute, world: World): string {
  if (path.startsWith('/v1/keys/')) return world.keyId;
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

/**
 * A digest of every row of every table but the counters of failures: equal before and after what changed nothing.
 * `except` names tables that may change.
 */
export async function digestTables(world: World, except: readonly string[] = []): Promise<object> {
  const tables = [...TENANT_TABLES, ...Object.keys(GLOBAL_TABLES)];
  const { sql } = world.service;
  const digests: Record<string, unknown> = {};
  for (const table of tables.filter((name) => name !== 'rate_limits' && !except.includes(name))) {
    const [row] = await sql`
      select count(*)::int as rows, md5(coalesce(string_agg(t::text, '|' order by t::text), '')) as digest
      from ${sql(table)} t`;
    digests[table] = row;
  }
  return digests;
}
