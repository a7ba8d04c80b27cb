import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiAnswer, ApiClient } from '../support/api_client.ts';
import { ask, authorize } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newAgent, newApprover, ROOMY, uuidOf } from './support.ts';

let service: TestService;
let agent: Actor;
/** A session, a run and a call that no other test has. */
let context: { session_id: string; run_id: string; workspace: string; environment: string };
let call: ReturnType<typeof release>;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
});
afterAll(() => service.close());
beforeEach(async () => {
  agent = await newAgent(service);
  context = {
    session_id: `s-${randomUUID()}`,
    run_id: `r-${randomUUID()}`,
    workspace: 'repo:a',
    environment: 'staging',
  };
  call = release(`svc-${randomUUID()}`);
});

function again(more: object = {}, toolCall: object = call, client: ApiClient = agent.client) {
  return authorize(client, toolCall, { context: { ...context, ...more } });
}

async function approve(body: object, approver: ApiClient = service.approver): Promise<ApiAnswer> {
  const id = await ask(agent.client, call, context);
  return approver.post(`/v1/approvals/${id}/approve`, body);
}

async function grantFor(scope: object): Promise<string> {
  expectOk(await approve(scope), { status: 'approved' });
  const list = await service.operator.get(`/v1/grants?agent=${agent.principal}`);
  expect(list.body.items).toHaveLength(1);
  return list.body.items[0].grant_id;
}

const SESSION = { scope: 'session' };
const RUN = { scope: 'run' };
const WINDOW = { scope: 'window', window_seconds: 600, max_uses: 2 };

describe('a widened yes', () => {
  test.each([SESSION, RUN, WINDOW])(
    'of $scope answers the same call again, and says by which grant',
    async (scope) => {
      const grantId = await grantFor(scope);

      const answer = await again();

      expectOk(answer, {
        decision: 'allow',
        grant_id: grantId,
        approval: null,
        determining_policies: ['deploy-release-asks'],
      });
    },
  );

  test('shows what it holds for, and how often it was used', async () => {
    const grantId = await grantFor(WINDOW);
    await again();
    await again();

    const list = await service.approver.get(`/v1/grants?agent=${agent.principal}`);

    expect(list.body.items).toEqual([
      expect.objectContaining({ grant_id: grantId, scope: 'window', max_uses: 2, uses: 2, ...context }),
    ]);
  });

  test('once makes no grant', async () => {
    expectOk(await approve({ scope: 'once' }), { status: 'approved' });

    expectOk(await again(), { decision: 'require_approval', grant_id: null });
  });

  test('keeps the decision and the grant it rests on', async () => {
    const grantId = await grantFor(SESSION);
    const answer = await again();

    const [row] = await service.sql`select decision, grant_id from decisions
      where decision_id = ${uuidOf(answer.body.decision_id)}`;

    expect(row).toEqual({ decision: 'allow', grant_id: uuidOf(grantId) });
  });
});

describe('a grant does not answer', () => {
  test.each([
    ['another workspace', { workspace: 'repo:b' }],
    ['another environment', { environment: 'production' }],
    ['another session', { session_id: 'another' }],
    ['no session', { session_id: null }],
    ['a less trusted origin', { source_trust: 'semi_trusted' }],
    ['sensitive data, when it was given without', { contains_sensitive_data: true }],
  ])('%s', async (_, more) => {
    await grantFor(SESSION);

    expectOk(await again(more), { decision: 'require_approval', grant_id: null });
    expectOk(await again(), { decision: 'allow' });
  });

  test('another run, when it was given for one', async () => {
    await grantFor(RUN);

    expectOk(await again({ run_id: 'another' }), { decision: 'require_approval' });
    expectOk(await again(), { decision: 'allow' });
  });

  test('another secret argument, although it is shown to nobody', async () => {
    call = release('svc', { token: 'tok-one' });
    await grantFor(SESSION);

    expectOk(await again({}, release('svc', { token: 'tok-two' })), { decision: 'require_approval' });
    expectOk(await again(), { decision: 'allow' });
  });

  test('another agent', async () => {
    await grantFor(SESSION);
    const other = await newAgent(service);

    expectOk(await again({}, call, other.client), { decision: 'require_approval' });
  });

  test('more often than its uses', async () => {
    await grantFor({ scope: 'window', window_seconds: 600, max_uses: 1 });

    expectOk(await again(), { decision: 'allow' });
    expectOk(await again(), { decision: 'require_approval', grant_id: null });
  });

  test('after its time', async () => {
    const grantId = await grantFor(WINDOW);
    await service.sql`update grants set created_at = created_at - interval '1 hour',
      expires_at = clock_timestamp() - interval '1 millisecond' where grant_id = ${uuidOf(grantId)}`;

    expectOk(await again(), { decision: 'require_approval' });
  });

  test.each(['operator', 'approver'] as const)('once an %s has revoked it', async (role) => {
    const grantId = await grantFor(SESSION);

    expect((await service[role].delete(`/v1/grants/${grantId}`)).status).toBe(204);

    expectOk(await again(), { decision: 'require_approval' });
    expectProblem(await service[role].delete(`/v1/grants/${grantId}`), 404, 'not_found');
  });

  test('once the key of a vote that it rests on was revoked', async () => {
    const approver = await newApprover(service);
    expectOk(await approve(SESSION, approver.client), { status: 'approved' });
    expectOk(await again(), { decision: 'allow' });

    await service.operator.delete(`/v1/keys/${approver.keyId}`);

    expectOk(await again(), { decision: 'require_approval' });
    const list = await service.operator.get(`/v1/grants?agent=${agent.principal}`);
    expect(list.body.items).toEqual([]);
  });

  test('once its approval was taken back', async () => {
    const approved = await approve(SESSION);
    await agent.client.post(`/v1/approvals/${approved.body.approval_id}/cancel`);

    expectOk(await again(), { decision: 'require_approval' });
  });

  test('an ask that wants more votes than it has', async () => {
    await grantFor(SESSION);
    await putPolicies(service.operator, releaseAsk('@max_scope("window")\n@groups("security")'));

    const answer = await again();
    await putPolicies(service.operator, releaseAsk('@max_scope("window")'));

    expectOk(answer, { decision: 'require_approval' });
    // What was voided by other rules does not come back with the former ones.
    expectOk(await again(), { decision: 'require_approval' });
  });

  test('what a person has rejected since', async () => {
    await grantFor(SESSION);
    const asked = await ask(agent.client, call, { ...context, contains_sensitive_data: true });
    expectOk(await service.approver.post(`/v1/approvals/${asked}/reject`), { status: 'rejected' });

    expectOk(await again(), { decision: 'deny', denial: { by: 'person' } });
  });

  test('what other rules denied in between, once the former rules are back', async () => {
    await grantFor(SESSION);
    await putPolicies(service.operator, '');
    expectOk(await again(), { decision: 'deny' });
    await putPolicies(service.operator, releaseAsk('@max_scope("window")'));

    expectOk(await again(), { decision: 'require_approval', grant_id: null });
  });

  test('with the vote of somebody who has left the group that it stood for', async () => {
    await putPolicies(service.operator, releaseAsk('@max_scope("window")\n@groups("crew")'));
    const approver = await newApprover(service, ['crew']);
    const other = await newApprover(service, ['crew']);
    expectOk(await approve(SESSION, approver.client), { status: 'approved' });
    expectOk(await again(), { decision: 'allow' });

    const left = await service.operator.call('PUT', `/v1/principals/${approver.principal}`, { groups: [] });
    expectOk(left, { groups: [] });

    const answer = await again();
    await putPolicies(service.operator, releaseAsk('@max_scope("window")'));
    expectOk(answer, { decision: 'require_approval' });
    expect(other.principal).not.toBe(approver.principal);
  });

  test('an ask that no longer lets a yes hold that long', async () => {
    await grantFor(SESSION);
    await putPolicies(service.operator, releaseAsk('@max_scope("once")'));

    const answer = await again();
    await putPolicies(service.operator, releaseAsk('@max_scope("window")'));

    expectOk(answer, { decision: 'require_approval' });
  });
});

test('a grant that holds under other rules too goes on, and keeps both revisions', async () => {
  const grantId = await grantFor(SESSION);
  const before = (await again()).body.policy_revision;
  await putPolicies(service.operator, releaseAsk('@max_scope("window")\n@reason("other words")'));

  const answer = await again();
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));

  expectOk(answer, { decision: 'allow', grant_id: grantId });
  const [row] = await service.sql`select policy_revisions from grants where grant_id = ${uuidOf(grantId)}`;
  expect(row?.policy_revisions).toEqual([before, answer.body.policy_revision]);
});

test('a dry run and an idempotent repeat use no grant up', async () => {
  await grantFor({ scope: 'window', window_seconds: 600, max_uses: 1 });
  const body = { tool_call: call, context: { source_trust: 'trusted_internal', ...context } };
  const key = { headers: { 'idempotency-key': randomUUID() } };

  const dry = await agent.client.post('/v1/authorize', { ...body, dry_run: true });
  const first = await agent.client.post('/v1/authorize', body, key);
  const repeat = await agent.client.post('/v1/authorize', body, key);

  for (const answer of [dry, first, repeat]) expectOk(answer, { decision: 'allow' });
  expect(repeat.body).toEqual(first.body);
  expectOk(await again(), { decision: 'require_approval' });
});

describe('widening is refused', () => {
  test.each([
    ['a window without its seconds', { scope: 'window', max_uses: 1 }, '/window_seconds'],
    ['a window without its uses', { scope: 'window', window_seconds: 1 }, '/max_uses'],
    ['seconds without a window', { scope: 'session', window_seconds: 1 }, '/window_seconds'],
    ['uses without a scope', { max_uses: 1 }, '/max_uses'],
    ['a window of more than a day', { ...WINDOW, window_seconds: 86_401 }, '/window_seconds'],
    ['more than a hundred uses', { ...WINDOW, max_uses: 101 }, '/max_uses'],
    ['an allowlist where none is offered', { scope: 'allowlist' }, '/scope'],
  ])('for %s', async (_, body, pointer) => {
    expectProblem(await approve(body), 422, 'invalid_request', {
      errors: [expect.objectContaining({ pointer })],
    });
  });

  test.each([
    ['session', { session_id: null }],
    ['run', { run_id: null }],
  ])('for a %s that the call did not name', async (scope, more) => {
    Object.assign(context, more);

    expectProblem(await approve({ scope }), 422, 'invalid_request', {
      errors: [expect.objectContaining({ pointer: '/scope' })],
    });
  });

  test('beyond what the ask allows, with what it does allow', async () => {
    const toolCall = {
      ...release('x'),
      tool: 'stripe',
      action: 'refund',
      parameters: { amount: 9000, currency: 'usd' },
    };
    const id = await ask(agent.client, toolCall, context);

    const refused = await service.approver.post(`/v1/approvals/${id}/approve`, SESSION);

    expectProblem(refused, 403, 'scope_not_allowed', { detail: expect.stringContaining('`once`') });
    const { body } = await service.approver.get(`/v1/approvals/${id}`);
    expect(body).toMatchObject({ status: 'pending', votes: [], scopes: ['once'] });
  });
});

test('an approval offers the scopes that policy and the call leave', async () => {
  const offered = async (more: object): Promise<string[]> => {
    const id = await ask(agent.client, release(randomUUID()), { ...context, ...more });
    return (await service.approver.get(`/v1/approvals/${id}`)).body.scopes;
  };

  expect(await offered({})).toEqual(['once', 'run', 'session', 'window']);
  expect(await offered({ session_id: null })).toEqual(['once', 'run', 'window']);
  expect(await offered({ run_id: null })).toEqual(['once', 'session', 'window']);
});

test('of several votes the narrowest scope holds', async () => {
  await putPolicies(service.operator, releaseAsk('@max_scope("window")\n@votes("2")'));
  const id = await ask(agent.client, call, context);
  await service.approver.post(`/v1/approvals/${id}/approve`, SESSION);

  const done = await service.approver2.post(`/v1/approvals/${id}/approve`, { scope: 'once' });
  const answer = await again();
  await putPolicies(service.operator, releaseAsk('@max_scope("window")'));

  expectOk(done, { status: 'approved' });
  expectOk(answer, { decision: 'require_approval' });
});

test('of an approval that drifted names the rules and the tool’s facts under which it was given', async () => {
  const id = await ask(agent.client, call, context);
  const readBound = async (table: 'approvals' | 'grants') => {
    const [row] = await service.sql`
      select policy_revision, tool_facts_hash from ${service.sql(table)} where approval_id = ${uuidOf(id)}`;
    return row;
  };
  const before = await readBound('approvals');
  await putTool(service.operator, 'deploy', 'release', { ...RELEASE, idempotent: true });
  expectOk(await service.approver.post(`/v1/approvals/${id}/approve`, SESSION), { status: 'approved' });
  const after = await readBound('approvals');
  expect(after?.tool_facts_hash).not.toBe(before?.tool_facts_hash);
  expect(await readBound('grants')).toEqual(after);
  await putTool(service.operator, 'deploy', 'release', RELEASE);
});

describe('under strict drift', () => {
  let strict: TestService;
  beforeAll(async () => {
    strict = await startTestService({ env: { ...ROOMY, AEGIS_POLICY_DRIFT: 'strict' } });
    await putTool(strict.operator, 'deploy', 'release', RELEASE);
  });
  afterAll(() => strict.close());

  test('a grant ends with the rules it was given under, however little they differ', async () => {
    await putPolicies(strict.operator, releaseAsk('@max_scope("window")'));
    const id = await ask(strict.agent, call, context);
    await strict.approver.post(`/v1/approvals/${id}/approve`, SESSION);
    const repeat = () => authorize(strict.agent, call, { context });
    expectOk(await repeat(), { decision: 'allow' });

    await putPolicies(strict.operator, releaseAsk('@max_scope("window")\n@reason("other words")'));
    const after = await repeat();
    await putPolicies(strict.operator, releaseAsk('@max_scope("window")'));

    expectOk(after, { decision: 'require_approval', grant_id: null });
    expectOk(await repeat(), { decision: 'require_approval', grant_id: null });
    expect((await strict.operator.get('/v1/grants')).body.items).toEqual([]);
  });
});
