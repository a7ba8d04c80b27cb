import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { authorize, refund } from '../support/calls.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Decisions that arrive together are made durable in one statement; each is answered for itself.

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql.unsafe(`
    create function refuse_row() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`);
});
afterEach(() => service.sql`drop trigger if exists refused on decisions`);
afterAll(() => service.close());

async function countDecisions(): Promise<number> {
  const [row] = await service.sql<{ count: number }[]>`select count(*)::int as count from decisions`;
  return row?.count ?? 0;
}

test('concurrent decisions share statements, and each is there when it is answered', async () => {
  const before = await countDecisions();
  const sentBefore = service.statements.length;
  const calls = Array.from({ length: 64 }, (_, index) => refund(100 + index));
  const answers = await Promise.all(calls.map((toolCall) => authorize(service.agent, toolCall)));
  expect(answers.map(({ body }) => body.tool_call)).toStrictEqual(calls);
  expect(await countDecisions()).toBe(before + calls.length);
  const inserts = service.statements
    .slice(sentBefore)
    .filter((text) => text.includes('insert into decisions'));
  expect(inserts.length).toBeLessThan(calls.length);
});

test('a decision that cannot be written fails its own request alone', async () => {
  const before = await countDecisions();
  await service.sql.unsafe(`
    create trigger refused before insert on decisions for each row
    when (new.canonical_action like '%"amount":4242,%') execute function refuse_row()`);
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) => authorize(service.agent, refund(index === 7 ? 4242 : 100))),
  );
  const failed = answers.flatMap(({ status, body }, index) => (status === 200 ? [] : [[index, body.code]]));
  expect(failed).toStrictEqual([[7, 'internal_error']]);
  expect(await countDecisions()).toBe(before + 23);
});
