import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { authorize, refund } from '../support/calls.ts';
import { putPolicies } from '../support/rules.ts';
import { createTestDatabase } from '../support/test_database.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// Rules, with two processes on one database.

let one: TestService;
let other: TestService;

beforeAll(async () => {
  one = await startTestService();
  other = await startTestService({ databaseUrl: one.databaseUrl });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const forbid = (id: string) =>
  `@id("${id}") forbid (principal, action == Aegis::Action::"stripe.refund", resource);`;

test('the very next decision of the other process is by the rules just activated', async () => {
  const agent = other.as(one.tokens.AGENT);
  for (const id of ['first', 'second', 'third']) {
    const { body } = await putPolicies(one.operator, forbid(id));
    const decided = await authorize(agent, refund(1));
    expect(decided.body).toMatchObject({
      decision: 'deny',
      determining_policies: [id],
      policy_revision: body.revision,
    });
  }
  await putPolicies(one.operator, '');
  expect((await authorize(agent, refund(1))).body.decision).toBe('allow');
});

test('the other process loads what was activated before anybody asks it', async () => {
  await authorize(other.as(one.tokens.AGENT), refund(1));
  other.statements.length = 0;
  await putPolicies(one.operator, forbid('loaded-ahead'));
  const isLoaded = () =>
    other.statements.some((text) => /from "revisions" inner join "base_rules"/.test(text));
  await vi.waitFor(() => expect(isLoaded()).toBe(true), { timeout: 10_000, interval: 20 });
  await putPolicies(one.operator, '');
});

test('a decision that needs other rules loaded does not wait for what operators have checked', async () => {
  const agent = other.as(one.tokens.AGENT);
  await authorize(agent, refund(1));
  const text = Array.from({ length: 1200 }, (_, index) => forbid(`checked-${index}`)).join('\n');
  let answered = 0;
  const checks = [1, 2, 3].map(async () => {
    const { status } = await other.as(one.tokens.OPERATOR).post('/v1/policies/validate', { text });
    answered += 1;
    return status;
  });
  const { body } = await putPolicies(one.operator, forbid('meanwhile'));
  const decided = await authorize(agent, refund(1));
  expect(decided.body).toMatchObject({ determining_policies: ['meanwhile'], policy_revision: body.revision });
  expect(answered).toBeLessThan(2);
  expect(await Promise.all(checks)).toEqual([200, 200, 200]);
  await putPolicies(one.operator, '');
});

test('under load every decision is the active revision’s own, and once a change is answered no other’s', async () => {
  /** The revision that has been answered as active; undefined while a change is under way. */
  let settled: string | undefined = (await putPolicies(one.operator, '')).body.revision;
  const decisionOf = new Map([[settled, 'allow']]);
  const change = async (service: TestService, text: string, decision: string): Promise<void> => {
    settled = undefined;
    const { body } = await putPolicies(service.as(one.tokens.OPERATOR), text);
    decisionOf.set(body.revision, decision);
    settled = body.revision;
    await Promise.all([one, other].map(async ({ as }) => authorize(as(one.tokens.AGENT), refund(1))));
  };
  let busy = true;
  const decided: { revision: string; decision: string; expected: string | undefined }[] = [];
  const load = [one, other].map(async ({ as }) => {
    while (busy) {
      const before = settled;
      const { body } = await authorize(as(one.tokens.AGENT), refund(1));
      const expected = before === settled ? settled : undefined;
      decided.push({ revision: body.policy_revision, decision: body.decision, expected });
    }
  });
  for (let round = 0; round < 4; round += 1) {
    await change(one, forbid(`round-${round}`), 'deny');
    await change(other, '', 'allow');
  }
  busy = false;
  await Promise.all(load);
  const certain = decided.filter(({ expected }) => expected !== undefined);
  expect(certain.length).toBeGreaterThan(4);
  for (const { revision, expected } of certain) expect(revision).toBe(expected);
  for (const { revision, decision } of decided) expect(decision).toBe(decisionOf.get(revision));
});

test('operators on two processes who change rules at once lose nothing', async () => {
  const operators = [one.operator, other.as(one.tokens.OPERATOR)];
  const changes = Array.from({ length: 6 }, (_, index) =>
    (operators[index % 2] as typeof one.operator).call('PUT', `/v1/tools/at-once/n${index}`, {
      mutates_state: true,
    }),
  );
  const answers = await Promise.all(changes);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const { body } = await one.operator.get('/v1/tools');
  const listed = body.items.filter(({ tool }: { tool: string }) => tool === 'at-once');
  expect(listed).toHaveLength(6);
});

test('two processes that start at once on an empty database have one tenant with one revision', async () => {
  const database = await createTestDatabase();
  const services = await Promise.all([1, 2].map(() => startTestService({ databaseUrl: database.url })));
  try {
    const [first] = services;
    const rows = await (first as TestService).sql`
      select (select count(*)::int from tenants) as tenants, (select count(*)::int from revisions) as revisions,
             (select count(*)::int from activations) as activations, (select count(*)::int from base_rules) as bases`;
    expect(rows[0]).toEqual({ tenants: 1, revisions: 1, activations: 1, bases: 1 });
  } finally {
    for (const service of services) await service.close();
    await database.drop();
  }
});

test('base rules whose process ended before any tenant had them are brought to all by another, or told of', async () => {
  const service = await startTestService();
  /** What a process does first that puts another folder in force. */
  const begin = (id: string) => service.sql`
    insert into base_rules (digest, rules, activated_at)
    select md5(${id}) || md5(${id}), jsonb_set(rules, array['policies', ${id}], to_jsonb(${forbid(id)}::text)), clock_timestamp()
    from base_rules order by activated_at desc limit 1`;
  try {
    await begin('left-behind');
    const decide = async () => (await authorize(service.agent, refund(1))).body.determining_policies;
    await vi.waitFor(async () => expect(await decide()).toEqual(['left-behind']), {
      timeout: 25_000,
      interval: 200,
    });

    await putPolicies(service.operator, forbid('taken'));
    await begin('taken');
    const problem = async () => (await service.anonymous.get('/readyz')).body.policy_problem;
    await vi.waitFor(async () => expect(await problem()).toMatch(/own rules of tenants \(1\)/), {
      timeout: 25_000,
      interval: 200,
    });
    await putPolicies(service.operator, '');
    expect(await problem()).toBeNull();
    expect(await decide()).toEqual(['left-behind', 'taken']);
  } finally {
    await service.close();
  }
}, 60_000);
