import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ask, askApproved, makeKey, refund } from '../support/calls.ts';
import { uuidOf } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// ONE TRANSACTION: what a change writes commits together or not at all. Each test makes one of the writes fail.

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql.unsafe(`
    create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`);
});
afterAll(() => service.close());

const TABLES = ['approvals', 'decisions', 'votes', 'idempotency_keys', 'keys', 'principals', 'tenants'];

/** Makes a kind of write fail, from now to the end of the test. */
const failOn = (event: string, table: string, when = 'true') =>
  service.sql.unsafe(
    `create trigger refused before ${event} on ${table} for each row when (${when}) execute function refuse_row()`,
  );
const failNoMore = () =>
  service.sql.unsafe(TABLES.map((table) => `drop trigger if exists refused on ${table}`).join(';'));

afterEach(failNoMore);

/** Every row of every table, as text. */
async function readAll(): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows = await service.sql<{ row: string }[]>`
      select to_jsonb(t)::text as row from ${service.sql(table)} t order by 1`;
    tables[table] = rows.map(({ row }) => row);
  }
  return tables;
}

const CONSTANT_500 = { status: 500, body: { code: 'internal_error' } };

test.each([
  ['approve', undefined],
  ['reject', { reason: 'no' }],
])('a vote that cannot be written leaves the state as it was: %s', async (call, body) => {
  const id = await ask(service.agent);
  await failOn('insert', 'votes');
  const before = await readAll();
  expect(await service.approver.post(`/v1/approvals/${id}/${call}`, body)).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
  await failNoMore();
  expect((await service.approver.post(`/v1/approvals/${id}/approve`)).body.status).toBe('approved');
});

test('a state that cannot be written leaves no vote', async () => {
  const id = await ask(service.agent);
  await failOn('update', 'approvals');
  const before = await readAll();
  expect(await service.approver.post(`/v1/approvals/${id}/approve`)).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
});

test('an approval that cannot be written leaves no decision', async () => {
  await failOn('insert', 'approvals');
  const before = await readAll();
  const asked = await service.agent.post('/v1/authorize', {
    tool_call: refund(9000),
    context: { source_trust: 'trusted_internal' },
  });
  expect(asked).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
});

test.each([
  ['an ask', 9000],
  ['an allow', 100],
])('an idempotent answer that cannot be kept leaves no decision and no approval: %s', async (_, amount) => {
  await failOn('update', 'idempotency_keys', 'new.answer is not null');
  const before = await readAll();
  const body = { tool_call: refund(amount), context: { source_trust: 'trusted_internal' } };
  const options = { headers: { 'Idempotency-Key': `key-${amount}` } };
  expect(await service.agent.post('/v1/authorize', body, options)).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
  await failNoMore();
  const retried = await service.agent.post('/v1/authorize', body, options);
  expect(retried.status).toBe(200);
  expect(retried.headers.has('idempotency-replayed')).toBe(false);
});

test('a revocation whose votes cannot be dropped revokes nothing and voids nothing', async () => {
  const key = await makeKey(service.operator, { principal: 'approver-t', roles: ['approver'] });
  const id = await askApproved(service.agent, service.as(key.token));
  await failOn('update', 'votes');
  const before = await readAll();
  expect(await service.operator.delete(`/v1/keys/${key.id}`)).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
  expect((await service.agent.post(`/v1/approvals/${id}/consume`)).status).toBe(200);
});

test('a key that cannot be written leaves no principal', async () => {
  await failOn('insert', 'keys');
  const before = await readAll();
  const made = await service.operator.post('/v1/keys', { principal: 'nobody-yet', roles: ['auditor'] });
  expect(made).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
});

test('a consume that cannot be written spends nothing, and the next one does', async () => {
  const id = await askApproved(service.agent, service.approver);
  await failOn('update', 'approvals', "new.status = 'consumed'");
  const before = await readAll();
  const body = { consumer_token: 'a-token-of-this-call' };
  expect(await service.agent.post(`/v1/approvals/${id}/consume`, body)).toMatchObject(CONSTANT_500);
  expect(await readAll()).toStrictEqual(before);
  await failNoMore();
  const retried = await service.agent.post(`/v1/approvals/${id}/consume`, body);
  expect(retried.body).toMatchObject({ status: 'consumed', replayed: false });
  const [row] = await service.sql<{ status: string }[]>`
    select status from approvals where approval_id = ${uuidOf(id)}`;
  expect(row?.status).toBe('consumed');
});
