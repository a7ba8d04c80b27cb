import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ask, authorize } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, newApprover, ROOMY } from './support.ts';

// Each fault of a rule or of who stands behind it is refused, with words that say what to do.

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
});
afterAll(() => service.close());
afterEach(() => putPolicies(service.operator, ''));

const PERMIT = 'permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)';

describe('a policy set is refused, and the one in force stays, for', () => {
  test.each([
    [
      'a misspelt annotation',
      `@id("a")\n@dcision("require_approval")\n${PERMIT};`,
      /`@dcision`/,
      /@decision/,
    ],
    ['a repeated id', `@id("a")\n${PERMIT};\n@id("a")\n${PERMIT};`, /taken|repeated/, /[Rr]ename/],
    ['an id of the base set', `@id("crm-delete-forbidden")\n${PERMIT};`, /taken|base/, /[Rr]ename|[Cc]hoose/],
    ['a policy without an id', `${PERMIT};`, /`@id`/, /@id\(/],
    ['zero votes', `@id("a")\n@decision("require_approval")\n@votes("0")\n${PERMIT};`, /`@votes`/, /1 to 10/],
    [
      'an empty group',
      `@id("a")\n@decision("require_approval")\n@groups("")\n${PERMIT};`,
      /`@groups`/,
      /group/,
    ],
    [
      'a parameter that does not exist',
      `@id("a")\n${PERMIT}\nwhen { context.parameters.servce == "x" };`,
      /servce/,
      /service/,
    ],
    ['a typo behind has', `@id("a")\n${PERMIT}\nunless { context has workspce };`, /workspce/, /workspace/],
    ['a text that does not parse', `@id("a")\npermit (principal, action resource);`, /./, null],
  ])('%s', async (_, text, message, help) => {
    const before = (await service.operator.get('/v1/policies')).body;

    const answer = await service.operator.call('PUT', '/v1/policies', { text });

    expectProblem(answer, 422, 'policy_invalid');
    const said = answer.body.errors.map((error: { message: string; help: string | null }) => error);
    expect(said.some((error: { message: string }) => message.test(error.message))).toBe(true);
    if (help !== null) expect(JSON.stringify(said)).toMatch(help);
    expect(said[0].line).toEqual(expect.any(Number));
    expect((await service.operator.get('/v1/policies')).body).toEqual(before);
  });
});

test('a forbid that errs denies, and the reason names it', async () => {
  await putPolicies(
    service.operator,
    `@id("deploy-permitted")\n${PERMIT};
@id("overflows")
forbid (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { context.now.toTime().toMilliseconds() + 9223372036854775807 < 0 };`,
  );

  const answer = await authorize(service.agent, release('a'));

  expectOk(answer, { decision: 'deny' });
  expect(answer.body.reason).toMatch(/`overflows`.*operator/);
});

describe('an ask that nobody could answer is denied at once', () => {
  test('because nobody is in a group it needs', async () => {
    const put = await putPolicies(service.operator, releaseAsk('@groups("legal")'));
    expect(put.body.warnings).toEqual([
      expect.objectContaining({
        policy_id: 'deploy-release-asks',
        message: expect.stringContaining('`legal`'),
      }),
    ]);

    const answer = await authorize(service.agent, release('a'));

    expectOk(answer, { decision: 'deny', approval: null, denial: { by: 'unroutable' } });
    expect(answer.body.reason).toMatch(/`legal`.*\/v1\/keys/);
  });

  test('until somebody is', async () => {
    await putPolicies(service.operator, releaseAsk('@groups("ops")'));
    expectOk(await authorize(service.agent, release('a')), { decision: 'deny' });

    await newApprover(service, ['ops']);

    expectOk(await authorize(service.agent, release('a')), { decision: 'require_approval' });
  });

  test('because too few could vote', async () => {
    await putPolicies(service.operator, releaseAsk('@votes("10")'));

    expectOk(await authorize(service.agent, release('a')), {
      decision: 'deny',
      denial: { by: 'unroutable' },
    });
  });

  test('because there are no approvers at all', async () => {
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: 'alone' });
    const operator = service.as(made.body.operator_key.key);
    const agent = await newActor({ ...service, operator } as TestService, ['agent']);
    const refund = {
      tool: 'stripe',
      action: 'refund',
      mutates_state: true,
      parameters: { amount: 9000, currency: 'usd' },
    };

    const answer = await authorize(agent.client, refund);

    expectOk(answer, { decision: 'deny', approval: null, denial: { by: 'unroutable' } });
    expect(answer.body.reason).toMatch(/0 of the 1 approvers.*\/v1\/keys/);
  });

  test('because the only approver is the owner of the agent', async () => {
    await putPolicies(service.operator, releaseAsk('@groups("owners")'));
    const owner = await newApprover(service, ['owners']);
    const agent = await newActor(service, ['agent'], { owner: owner.principal });

    expectOk(await authorize(agent.client, release('a')), { decision: 'deny', denial: { by: 'unroutable' } });
  });
});

test('the vote of a revoked approver does not count', async () => {
  await putPolicies(service.operator, releaseAsk('@votes("2")'));
  const leaver = await newApprover(service);
  const id = await ask(service.agent, release('a'));
  expectOk(await leaver.client.post(`/v1/approvals/${id}/approve`), { status: 'pending' });

  await service.operator.delete(`/v1/keys/${leaver.keyId}`);

  expectOk(await service.approver.post(`/v1/approvals/${id}/approve`), { status: 'pending' });
  expectProblem(await service.agent.post(`/v1/approvals/${id}/consume`), 409, 'approval_not_approved');
});

test('of two operators who activate at once the later one is told that the rules have changed', async () => {
  const { body } = await service.operator.get('/v1/policies');
  const second = await newActor(service, ['operator']);
  const put = (client: typeof service.operator, reason: string) =>
    client.call(
      'PUT',
      '/v1/policies',
      { text: releaseAsk(`@reason("${reason}")`) },
      {
        headers: { 'if-match': `"${body.revision}"` },
      },
    );

  const answers = await Promise.all([put(service.operator, 'one'), put(second.client, 'other')]);

  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  const refused = answers.find(({ status }) => status === 412);
  if (refused === undefined) throw new Error('nobody was refused');
  expectProblem(refused, 412, 'stale_version', { detail: expect.stringMatching(/[Rr]ead/) });
});
