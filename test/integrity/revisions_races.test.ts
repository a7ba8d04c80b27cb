import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { makeKey } from '../support/calls.ts';
import { type HeldRow, holdRow, untilBlocked } from '../support/locks.ts';
import { putPolicies } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// What another transaction does while an activation waits for its rows decides what becomes of it.

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: { AEGIS_BOOTSTRAP_OPERATOR_KEY: BOOTSTRAP } });
});
afterAll(() => service.close());
beforeEach(() => putPolicies(operator(), ''));

const BOOTSTRAP = 'bootstrap-operator-key-of-more-than-32-characters';
/** The advisory lock of base rules, as the storage has it. */
const BASE_LOCK = 7_226_333;

const operator = () => service.as(BOOTSTRAP);
const current = async () => (await operator().get('/v1/policies')).body;
const forbid = (id: string) =>
  `@id("${id}") forbid (principal, action == Aegis::Action::"stripe.refund", resource);`;
const putTool = (headers: Record<string, string> = {}): Promise<ApiAnswer> =>
  operator().call('PUT', '/v1/tools/lamp/on', { mutates_state: true }, { headers });
const isListed = async () => {
  const { body } = await operator().get('/v1/tools');
  return body.items.some(({ tool }: { tool: string }) => tool === 'lamp');
};

/** Another activation, of a revision the tenant had, that is about to be committed. */
async function beginActivation(revision: string): Promise<HeldRow> {
  return holdRow(
    service.sql,
    (session) => session`
      update tenants set active_revision = ${revision}, activated_at = clock_timestamp()
      where tenant_id = 'default'`,
  );
}

async function prepareOther(): Promise<{ before: string; other: string }> {
  const before = (await current()).revision;
  const other = (await putPolicies(operator(), forbid('of-the-other'))).body.revision;
  await operator().post(`/v1/policies/revisions/${before}/activate`);
  return { before, other };
}

test('an activation that comes first is kept: the change is made anew upon it', async () => {
  const { other } = await prepareOther();
  const held = await beginActivation(other);
  const changing = putTool();
  await untilBlocked(service.sql, 1);
  await held.release();
  expect((await changing).status).toBe(200);
  expect(Object.keys((await current()).tenant)).toEqual(['of-the-other']);
  expect(await isListed()).toBe(true);
  await operator().delete('/v1/tools/lamp/on');
});

test('an activation that comes first refuses who named what they had read, and nothing of theirs is stored', async () => {
  const { before, other } = await prepareOther();
  const revisions = () => service.sql`select count(*) from revisions`;
  const stored = await revisions();
  const held = await beginActivation(other);
  const changing = putTool({ 'if-match': `"${before}"` });
  await untilBlocked(service.sql, 1);
  await held.release();
  expect(await changing).toMatchObject({ status: 412, body: { code: 'stale_version' } });
  expect(await isListed()).toBe(false);
  expect(await revisions()).toEqual(stored);
});

test('a key revoked while its activation waits activates nothing', async () => {
  const { token, id } = await makeKey(operator(), { principal: 'leaver', roles: ['operator'] });
  const before = await current();
  const held = await holdRow(
    service.sql,
    (session) => session`
      update keys set revoked_at = clock_timestamp() where key_id = ${id.slice('key_'.length)}`,
  );
  const changing = service.as(token).call('PUT', '/v1/policies', { text: forbid('a-last-word') });
  await untilBlocked(service.sql, 1);
  await held.release();
  expect(await changing).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  expect(await current()).toEqual(before);
});

/** Puts other base rules in force, the same by content, in a transaction that is about to be committed. */
async function beginBase(digest: string): Promise<HeldRow> {
  return holdRow(service.sql, async (session) => {
    await session`select pg_advisory_xact_lock(${BASE_LOCK})`;
    await session`
      insert into base_rules (digest, rules, activated_at)
      select ${digest}, rules, clock_timestamp() from base_rules order by activated_at desc limit 1`;
  });
}

test('base rules that come into force while a change waits are those it is made upon', async () => {
  const digest = 'e'.repeat(64);
  const held = await beginBase(digest);
  const changing = operator().call('PUT', '/v1/policies', { text: forbid('upon-the-base') });
  await untilBlocked(service.sql, 1);
  await held.release();
  const { status, body } = await changing;
  expect(status).toBe(200);
  const [row] = await service.sql`select base_digest from revisions where revision = ${body.revision}`;
  expect(row).toEqual({ base_digest: digest });
});

test('base rules that come into force while a tenant is made are those it is born with', async () => {
  const digest = 'f'.repeat(64);
  const held = await beginBase(digest);
  const making = operator().post('/v1/tenants', { tenant_id: 'newborn' });
  await untilBlocked(service.sql, 1);
  await held.release();
  expect((await making).status).toBe(201);
  const rows = await service.sql`
    select r.base_digest, a.replaced from tenants t
    join revisions r on r.tenant_id = t.tenant_id and r.revision = t.active_revision
    join activations a on a.tenant_id = r.tenant_id and a.revision = r.revision
    where t.tenant_id = 'newborn'`;
  expect([...rows]).toEqual([{ base_digest: digest, replaced: null }]);
});
