import { randomBytes, randomUUID } from 'node:crypto';
import { v7 as newUuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CONSOLE_PAGES } from '../../src/console/pages/index.ts';
import { NO_LIMITS } from '../../src/core/caller.ts';
import { createConsoleSessionStore } from '../../src/storage/console_sessions.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { deleteExpired } from '../../src/storage/delete_expired.ts';
import { GLOBAL_TABLES, TENANT_TABLES } from '../../src/storage/table_kinds.ts';
import { Browser } from '../console/support.ts';
import { buttonsOf, clickBody, SIGNING_SECRET, SlackServer, signedHeaders } from '../notify/slack_server.ts';
import type { ApiClient } from '../support/api_client.ts';
import { ask, askApproved, authorize, makeKey, refund } from '../support/calls.ts';
import { RpcClient } from '../support/rpc_client.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { SoftwareAuthenticator } from '../support/software_authenticator.ts';
import { findTableUses } from '../support/statement_tables.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// TENANT WALL

/** The statements that are given no tenant, and why they may be. */
const GIVEN_NO_TENANT: Record<string, RegExp> = {
  'credential look-up: the tenant is what it answers, and joins by':
    /^\s*select k\.token_hash, .* from keys k join principals p on p\.tenant_id = k\.tenant_id and .* where k\.token_hash = /s,
  'at start, and when rules were activated: which revision decides for whom':
    /^\s*select t\.tenant_id, t\.active_revision, .* from tenants t\s+left join revisions r on r\.tenant_id = t\.tenant_id /s,
  'now and then: what is pending though its asker is gone, by whichever process looks first':
    /^\s*with abandoned as materialized \(\s*select a\.tenant_id, a\.approval_id from tenants t join approvals a on a\.tenant_id = t\.tenant_id\s/,
  'each second: what is about to expire or has, by whichever process looks first':
    /^\s*with due as materialized \(\s*select a\.tenant_id, a\.approval_id from tenants t join approvals a on a\.tenant_id = t\.tenant_id\s/,
  'credential look-up of the console: the tenant is what it answers, and joins by':
    /^\s*select s\.session_hash, .* from keys k join principals p on p\.tenant_id = k\.tenant_id and .* where s\.session_hash = /s,
  'for webhooks, in the background: which hear of events that they were not told yet':
    /^\s*select w\.tenant_id, w\.webhook_id, .* from webhooks w where w\.deleted_at is null and w\.disabled_at is null\s/s,
  'now and then: whose expired rows to delete': /^select "tenant_id" from "tenants"$/,
};

/** Where the pages are that passkeys are bound to. */
const ORIGIN = 'http://localhost:8080';

/** The clients of one tenant. */
interface Tenant {
  agent: ApiClient;
  approver: ApiClient;
  security: ApiClient;
  operator: ApiClient;
}

/** Is told of `ours`, which is made after the service has started. */
const slack = new SlackServer();
let service: TestService;
let platform: ApiClient;
let ours: Tenant;
let theirs: Tenant;

async function makeTenant(id: string): Promise<Tenant> {
  const made = await platform.post('/v1/tenants', { tenant_id: id });
  expect(made.status).toBe(201);
  const operator = service.as(made.body.operator_key.key);
  const make = async (key: object) => service.as((await makeKey(operator, key)).token);
  return {
    operator,
    agent: await make({ principal: 'agent-1', roles: ['agent'] }),
    approver: await make({ principal: 'approver-1', roles: ['approver'], groups: ['finance'] }),
    security: await make({ principal: 'approver-2', roles: ['approver'], groups: ['security'] }),
  };
}

beforeAll(async () => {
  const token = randomBytes(24).toString('hex');
  await slack.start();
  service = await startTestService({
    env: {
      AEGIS_BOOTSTRAP_OPERATOR_KEY: token,
      AEGIS_PUBLIC_URL: ORIGIN,
      ...slack.env,
      AEGIS_SLACK_SIGNING_SECRET: SIGNING_SECRET,
      AEGIS_SLACK_TENANT: 'ours',
      AEGIS_WEBHOOK_ALLOW: '127.0.0.1/32',
    },
  });
  platform = service.as(token);
  ours = await makeTenant('ours');
  theirs = await makeTenant('theirs');
});
afterAll(async () => {
  await service.close();
  await slack.stop();
});

describe('the catalogue', () => {
  test('has tables of the two kinds alone, each named in table_kinds', async () => {
    const rows = await service.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public' order by 1`;
    const known = [...TENANT_TABLES, ...Object.keys(GLOBAL_TABLES)].toSorted();
    expect(rows.map(({ name }) => name)).toStrictEqual(known);
  });

  test('has no index of a tenant table, unique ones and primary keys included, that does not lead with tenant_id', async () => {
    const rows = await service.sql<{ table: string; index: string; first: string }[]>`
      select t.relname as table, i.relname as index, pg_get_indexdef(x.indexrelid, 1, true) as first
      from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
      where t.relnamespace = 'public'::regnamespace`;
    const indexed = new Set(rows.map(({ table }) => table));
    expect(TENANT_TABLES.filter((table) => !indexed.has(table))).toStrictEqual([]);
    const astray = rows.filter(
      ({ table, first }) => (TENANT_TABLES as readonly string[]).includes(table) && first !== 'tenant_id',
    );
    expect(astray).toStrictEqual([]);
  });

  test('has no nullable tenant_id, and no foreign key that could join two tenants', async () => {
    const nullable = await service.sql`
      select table_name from information_schema.columns
      where table_schema = 'public' and column_name = 'tenant_id' and is_nullable = 'YES'`;
    expect([...nullable]).toStrictEqual([]);
    const keys = await service.sql<{ name: string; columns: string[]; target: string[] }[]>`
      select conname as name,
        array(select attname from unnest(conkey) with ordinality k(n, i) join pg_attribute a
          on a.attrelid = conrelid and a.attnum = k.n order by i)::text[] as columns,
        array(select attname from unnest(confkey) with ordinality k(n, i) join pg_attribute a
          on a.attrelid = confrelid and a.attnum = k.n order by i)::text[] as target
      from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`;
    expect(keys.length).toBeGreaterThanOrEqual(4);
    const astray = keys.filter(
      ({ columns, target }) => columns[0] !== 'tenant_id' || target[0] !== 'tenant_id',
    );
    // The policy folder's rules are nobody's, and every tenant's.
    expect(astray.map(({ name }) => name)).toStrictEqual(['revisions_base_digest_base_rules_digest_fk']);
  });
});

/** Calls every endpoint, on the paths that succeed and on some that do not. */
async function callEverything({ agent, approver, security, operator }: Tenant): Promise<void> {
  await authorize(agent, refund(100));
  await authorize(agent, refund(100), { dry_run: true });
  for (let repeat = 0; repeat < 2; repeat += 1) {
    const body = {
      tool_call: { ...refund(9000), resource: null },
      context: { source_trust: 'trusted_internal' },
    };
    await agent.post('/v1/authorize', body, { headers: { 'Idempotency-Key': 'k' } });
  }
  const toConsume = await askApproved(agent, approver);
  await agent.post(`/v1/approvals/${toConsume}/consume`, { action_hash: '0'.repeat(64) });
  await agent.post(`/v1/approvals/${toConsume}/consume`);
  await agent.post(`/v1/approvals/${toConsume}/consume`);
  await agent.post(`/v1/approvals/${toConsume}/outcome`, { outcome: 'executed' });
  const toEdit = refund(9000);
  const edited = await ask(agent, toEdit);
  const parameters = { amount: 200_000, currency: 'usd' };
  await security.post(`/v1/approvals/${edited}/edit`, { tool_call: { ...toEdit, parameters } });
  await approver.post(`/v1/approvals/${edited}/approve`, undefined, { headers: { 'If-Match': '"2"' } });
  await approver.post(`/v1/approvals/${await ask(agent)}/reject`);
  await agent.post(`/v1/approvals/${await ask(agent)}/cancel`);
  for (const filter of ['', '?status=expired', '?status=pending&tool=stripe', '?outcome=missing&limit=1']) {
    await approver.get(`/v1/approvals${filter}`);
  }
  await approver.get(`/v1/approvals/${edited}?wait=1&version=1`);
  await approver.call('HEAD', '/v1/events');
  await agent.get('/v1/me');
  await operator.get('/v1/keys');
  const agentKey = await makeKey(operator, { principal: 'agent-r', roles: ['agent'] });
  const approverKey = await makeKey(operator, { principal: 'approver-r', roles: ['approver'] });
  await askApproved(service.as(agentKey.token), service.as(approverKey.token));
  await operator.delete(`/v1/keys/${approverKey.id}`);
  await operator.delete(`/v1/keys/${agentKey.id}?reason=left`);
  await service.anonymous.get('/readyz');
  await changeRules(operator);
  await useGrant({ agent, approver, security, operator });
  await letCommandsRun({ agent, approver, security, operator });
  await askOverRpc();
  await useWebhooks({ agent, approver, security, operator });
  await superviseAgents(operator);
  await signVotes({ agent, approver, security, operator });
  await useConsole(operator);
  await decideInSlack({ agent, approver, security, operator });
}

/** Calls every endpoint of webhooks, with a delivery that fails: nothing listens where it is sent to. */
async function useWebhooks({ agent, operator }: Tenant): Promise<void> {
  const webhook = { url: 'http://127.0.0.1:9/hook', events: ['approval.requested'] };
  const { body } = await operator.post('/v1/webhooks', webhook);
  const path = `/v1/webhooks/${body.webhook_id}`;
  await ask(agent);
  const failed = await vi.waitFor(
    async () => {
      const [delivery] = (await operator.get(`${path}/deliveries?status=pending`)).body.items;
      expect(delivery?.attempts).toBeGreaterThan(0);
      return delivery;
    },
    { timeout: 20_000, interval: 50 },
  );
  expect((await operator.post(`${path}/rotate`)).status).toBe(200);
  expect((await operator.post(`${path}/deliveries/${failed.delivery_id}/redeliver`)).status).toBe(200);
  expect((await operator.get('/v1/webhooks')).body.items).toHaveLength(1);
  expect((await operator.delete(path)).status).toBe(204);
}

/** Stores exec approvals, adds to them by an approval, and lets a command run by them. */
async function letCommandsRun({ agent, approver, operator }: Tenant): Promise<void> {
  const entry = { pattern: '/usr/bin/wc', last_used_at: '2026-01-01T00:00:00.000Z' };
  const document = {
    version: 1,
    defaults: { security: 'allowlist', ask: 'on-miss' },
    agents: { '*': { allowlist: [entry] } },
  };
  const jq = {
    tool: 'shell',
    action: 'exec',
    mutates_state: true,
    parameters: { command: 'jq .', resolved_paths: ['/usr/bin/jq'] },
  };
  expect((await operator.call('PUT', '/v1/exec-approvals', { document, base_hash: null })).status).toBe(200);
  const id = await ask(agent, jq, { workspace: 'repo:a' });
  await approver.post(`/v1/approvals/${id}/approve`, { scope: 'allowlist' });
  expect((await authorize(agent, jq, { context: { workspace: 'repo:a' } })).body.decision).toBe('allow');
  const { body } = await operator.get('/v1/exec-approvals');
  const again = { document: body.document, base_hash: body.hash };
  expect((await operator.call('PUT', '/v1/exec-approvals', again)).status).toBe(200);
  expect((await operator.call('PUT', '/v1/exec-approvals', { ...again, base_hash: null })).status).toBe(409);
  await operator.get('/v1/exec-approvals/suggestions');
}

/** Asks on a connection, for an approver's to see and for its end to withdraw, after a renewal of its lease. */
async function askOverRpc(): Promise<void> {
  const tokens = await Promise.all(
    (['agent', 'approver'] as const).map(async (role) => {
      const key = await makeKey(ours.operator, { principal: `${role}-rpc`, roles: [role] });
      return key.token;
    }),
  );
  const [agent, approver] = await Promise.all(tokens.map((token) => RpcClient.open(service.url, token)));
  if (agent === undefined || approver === undefined) throw new Error('no connection');
  const params = { command: `rm ${randomUUID()}`, two_phase: true };
  await agent.call('exec.approval.request', params);
  await approver.call('exec.approvals.pending');
  const isRenewed = () => service.statements.some((text) => /with asker as/.test(text));
  await vi.waitFor(() => expect(isRenewed()).toBe(true), { timeout: 20_000, interval: 50 });
  await Promise.all([agent.close(), approver.close()]);
  const isWithdrawn = () => service.statements.some((text) => /with held as materialized/.test(text));
  await vi.waitFor(() => expect(isWithdrawn()).toBe(true), { timeout: 10_000, interval: 50 });
}

/** Signs in to the console, opens every page that needs no more than the queue, and signs out. */
async function useConsole(operator: ApiClient): Promise<void> {
  const { token } = await makeKey(operator, { principal: 'approver-1', roles: ['approver'] });
  const browser = new Browser(service.url);
  const headers = { origin: ORIGIN };
  const csrf = await browser.csrf('/console/sign-in');
  expect((await browser.post('/console/sign-in', { csrf, key: token }, { headers })).status).toBe(303);
  for (const { method, path } of CONSOLE_PAGES) {
    if (method !== 'get' || path.includes(':')) continue;
    expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  }
  const form = { csrf: await browser.csrf('/console/nowhere') };
  expect((await browser.post('/console/sign-out', form, { headers })).status).toBe(303);
}

/** What a sign-in at an OpenID provider writes, and its end. */
async function signInByOidc(database: Database): Promise<void> {
  const sessions = createConsoleSessionStore(database, { publish: () => undefined });
  const key = { tenantId: 'ours', keyId: newUuid(), tokenHash: randomUUID(), roles: ['approver' as const] };
  const written = await sessions.openOidc({
    subject: 'sub-1',
    sessionHash: 'a-hash',
    key: {
      ...{ ...key, groups: [], owner: null, defaultOwner: null, createdBy: null, origin: 'oidc' },
      limits: NO_LIMITS,
    },
  });
  expect(written).toBe('opened');
  await sessions.close('a-hash');
}

/** Maps a Slack user that has no key to a principal, and lets it decide what was told in Slack. */
async function decideInSlack({ agent, operator }: Tenant): Promise<void> {
  await operator.call('PUT', '/v1/principals/approver-s', { groups: [], slack_user: 'U0SLACK' });
  const id = await ask(agent);
  await vi.waitFor(() => expect(slack.of(id)).toHaveLength(1), { timeout: 20_000, interval: 50 });
  const body = clickBody('U0SLACK', buttonsOf(slack.of(id)[0]).Approve);
  const headers = signedHeaders(body);
  const answer = await fetch(`${service.url}/v1/callbacks/slack`, { method: 'POST', headers, body });
  expect((await answer.json()).text).toMatch(/^Approved/);
  await vi.waitFor(() => expect(slack.of(id)[0]?.changes).toBeGreaterThan(0), {
    timeout: 20_000,
    interval: 50,
  });
}

/** Registers two passkeys, signs a vote with the second, and removes both. */
async function signVotes({ agent, approver, operator }: Tenant): Promise<void> {
  const keys = [new SoftwareAuthenticator(ORIGIN), new SoftwareAuthenticator(ORIGIN)] as const;
  const code = (await operator.post('/v1/principals/approver-1/enrolment-codes')).body.code;
  for (const [index, key] of keys.entries()) {
    const begun = await approver.post('/v1/webauthn/registrations', index === 0 ? { code } : {});
    const made = await approver.post('/v1/webauthn/registrations/verify', {
      registration: key.create(begun.body.options),
      ...(index > 0 && { assertion: keys[0].get(begun.body.assertion_options) }),
    });
    expect(made.status).toBe(201);
  }
  const id = await ask(agent);
  const { body } = await approver.post(`/v1/approvals/${id}/signature-options`, { decision: 'approve' });
  const signature = keys[1].get(body.options);
  expect((await approver.post(`/v1/approvals/${id}/approve`, { signature })).status).toBe(200);
  expect((await operator.get('/v1/webauthn/passkeys?principal=approver-1')).body.items).toHaveLength(2);
  expect((await approver.delete(`/v1/webauthn/passkeys/${keys[0].credentialId}`)).status).toBe(204);
  expect((await operator.delete(`/v1/webauthn/passkeys/${keys[1].credentialId}`)).status).toBe(204);
}

/** Makes a grant, uses it and revokes it, in a run and a session. */
async function useGrant({ agent, approver, operator }: Tenant): Promise<void> {
  const context = {
    session_id: 's-1',
    run_id: 'r-1',
    parent_run_id: 'r-0',
    source_trust: 'trusted_internal',
  };
  await putTool(operator, 'deploy', 'release', RELEASE);
  await putPolicies(operator, releaseAsk('@max_scope("window")'));
  const asked = { ...context, parent_run_id: null };
  const id = await ask(agent, release('shop'), asked);
  await approver.post(`/v1/approvals/${id}/approve`, { scope: 'session' });
  expect((await authorize(agent, release('shop'), { context: asked })).body.decision).toBe('allow');
  await putPolicies(operator, releaseAsk('@max_scope("once")'));
  await authorize(agent, release('shop'), { context: asked });
  await authorize(agent, refund(100), { context: { ...context, run_id: 'r-2' } });
  await approver.post(`/v1/approvals/${await ask(agent, release('other'), asked)}/approve`);
  await putPolicies(operator, releaseAsk('@max_scope("window")'));
  const again = await ask(agent, release('third'), asked);
  await approver.post(`/v1/approvals/${again}/approve`, { scope: 'run' });
  const { body } = await approver.get('/v1/grants?agent=agent-1');
  expect((await operator.delete(`/v1/grants/${body.items[0].grant_id}`)).status).toBe(204);
}

/** Calls every endpoint of principals, agents, sessions and denials. */
async function superviseAgents(operator: ApiClient): Promise<void> {
  const put = (path: string, body: object) => operator.call('PUT', path, body);
  await put('/v1/settings', { tier: 'auto' });
  await operator.get('/v1/settings');
  await put('/v1/agents/agent-1/sessions/s-1', { tier: 'ask' });
  await operator.get('/v1/agents/agent-1/sessions/s-1');
  await operator.post('/v1/agents/agent-1/sessions/s-1/resume');
  await operator.post('/v1/agents/agent-1/resume');
  const { body } = await operator.get('/v1/denials?agent=agent-1');
  await operator.delete(`/v1/denials/${body.items[0].denial_id}`);
  await operator.post('/v1/agents/agent-1/freeze');
  await operator.post('/v1/agents/agent-1/unfreeze');
  await put('/v1/principals/approver-2', { groups: ['security'], disabled: true });
  await put('/v1/principals/approver-2', { groups: ['security'] });
  expect((await operator.get('/v1/principals/approver-2')).body.groups).toEqual(['security']);
}

/** Calls every endpoint of rules. */
async function changeRules(operator: ApiClient): Promise<void> {
  const { body } = await operator.get('/v1/policies');
  const text =
    '@id("lamps") permit (principal is Aegis::Agent, action == Aegis::Action::"lamp.on", resource);';
  await operator.call('PUT', '/v1/tools/lamp/on', { mutates_state: true });
  await operator.post('/v1/policies/validate', { text });
  await operator.post('/v1/policies/simulate', { text });
  await operator.call('PUT', '/v1/policies', { text });
  await operator.post('/v1/policies/explain', { agent: 'agent-1', tool_call: refund(9000) });
  await operator.call('PUT', '/v1/tool-permissions', { items: [{ pattern: 'lamp.*', permission: 'ask' }] });
  await operator.get('/v1/tool-permissions');
  await operator.get('/v1/tools');
  await operator.get('/v1/policies/revisions');
  const activated = await operator.post(`/v1/policies/revisions/${body.revision}/activate`);
  expect(activated.status).toBe(200);
  expect((await operator.delete('/v1/tools/lamp/on')).status).toBe(404);
}

describe('every statement of a run through all endpoints', () => {
  let statements: string[];

  beforeAll(async () => {
    await callEverything(ours);
    statements = [...service.statements];
    const database = openDatabase({
      url: service.databaseUrl,
      poolMax: 1,
      onStatement: (text) => statements.push(text),
    });
    await ours.operator.call('PUT', '/v1/principals/approver-o', { groups: [], oidc_subject: 'sub-1' });
    await signInByOidc(database);
    await deleteExpired(database);
    await database.close();
  });

  test('that touches a tenant table names the tenant, but for the few that are given none', () => {
    const allowed = (text: string) => Object.values(GIVEN_NO_TENANT).some((pattern) => pattern.test(text));
    const astray = statements
      .filter((text) => !allowed(text))
      .filter((text) => findTableUses(text, TENANT_TABLES).some(({ bound }) => !bound));
    expect([...new Set(astray)]).toStrictEqual([]);
  });

  test('was looked at: each tenant table and each exception was touched', () => {
    const touched = new Set(
      statements.flatMap((text) => findTableUses(text, TENANT_TABLES)).map((use) => use.table),
    );
    expect([...touched].toSorted()).toStrictEqual([...TENANT_TABLES].toSorted());
    for (const pattern of Object.values(GIVEN_NO_TENANT)) {
      expect(statements.some((text) => pattern.test(text))).toBe(true);
    }
  });
});

test.each([
  'select * from approvals where approval_id = $1',
  'select "status" from "approvals" where "approvals"."approval_id" = $1',
  'update approvals a set status = $1 where a.approval_id = $2',
  'select * from approvals a join votes v on v.approval_id = a.approval_id where a.tenant_id = $1',
  'select "tenant_id" from "approvals"',
  'insert into votes (approval_id) values ($1)',
  'delete from "idempotency_keys" where "idempotency_keys"."expires_at" < $1',
  'select (select count(*) from votes v where v.tenant_id = approvals.tenant_id) from approvals',
])('the reader of statements finds the tenant missing in: %s', (statement) => {
  expect(findTableUses(statement, TENANT_TABLES).some(({ bound }) => !bound)).toBe(true);
});

describe('two tenants with the same principals', () => {
  test("do not see, decide or spend what is the other's", async () => {
    const id = await askApproved(ours.agent, ours.approver);
    const answers = [
      await theirs.approver.get(`/v1/approvals/${id}`),
      await theirs.agent.get(`/v1/approvals/${id}`),
      await theirs.approver.post(`/v1/approvals/${id}/approve`),
      await theirs.agent.post(`/v1/approvals/${id}/cancel`),
      await theirs.agent.post(`/v1/approvals/${id}/consume`),
    ];
    expect(answers.map(({ body }) => body.code)).toStrictEqual(answers.map(() => 'not_found'));
    expect((await theirs.approver.get('/v1/approvals')).body.items).toStrictEqual([]);
    expect((await ours.agent.post(`/v1/approvals/${id}/consume`)).status).toBe(200);
  });

  test('share no vote and no record, not even on approvals of one id and one action', async () => {
    const toolCall = refund(200_000);
    const former = await ask(ours.agent, toolCall);
    for (const client of [ours.approver, ours.security]) await client.post(`/v1/approvals/${former}/approve`);
    await ours.agent.post(`/v1/approvals/${former}/consume`);
    const id = await ask(ours.agent, toolCall);
    await ours.approver.post(`/v1/approvals/${id}/approve`);
    await service.sql`insert into decisions select (jsonb_populate_record(d, '{"tenant_id": "theirs"}')).*
      from decisions d where tenant_id = 'ours'`;
    await service.sql`insert into approvals select (jsonb_populate_record(a, '{"tenant_id": "theirs"}')).*
      from approvals a where tenant_id = 'ours' and status = 'pending'`;
    const mine = (await ours.approver.get(`/v1/approvals/${id}`)).body;
    expect(mine.votes).toHaveLength(1);
    expect(mine.recent).toHaveLength(1);
    const copy = (await theirs.approver.get(`/v1/approvals/${id}`)).body;
    expect(copy).toMatchObject({ status: 'pending', votes: [], recent: [] });
    const voted = await theirs.security.post(`/v1/approvals/${id}/approve`);
    expect(voted.body).toMatchObject({ status: 'pending', votes: [{ approver: 'approver-2' }] });
    expect((await ours.approver.get(`/v1/approvals/${id}`)).body.votes).toStrictEqual(mine.votes);
  });
});

test('a vote counts on its own approval alone', async () => {
  await askApproved(ours.agent, ours.approver);
  const id = await ask(ours.agent, refund(200_000));
  expect((await ours.approver.get(`/v1/approvals/${id}`)).body.votes).toStrictEqual([]);
  const voted = await ours.approver.post(`/v1/approvals/${id}/approve`);
  expect(voted.body).toMatchObject({ status: 'pending', votes: [{ approver: 'approver-1' }] });
});
