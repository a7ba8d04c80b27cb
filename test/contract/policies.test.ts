import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApiAnswer } from '../support/api_client.ts';
import { ask, askApproved, authorize, refund, TRUSTED } from '../support/calls.ts';
import { putPolicies, putTool, RELEASE, release, releaseAsk } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, expectProblem, newActor, newAgent, ROOMY } from './support.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  await putTool(service.operator, 'deploy', 'release', RELEASE);
});
afterAll(() => service.close());
afterEach(() => putPolicies(service.operator, ''));

const RELEASE_ALLOWED = `@id("deploy-release-allowed")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource);`;
const NO_LARGE_REFUNDS = `@id("no-large-refunds")
@reason("refunds above 50 dollars are made by hand")
forbid (principal is Aegis::Agent, action == Aegis::Action::"stripe.refund", resource)
when { context.parameters.amount > 5000 };`;
const STARTER_IDS = ['crm-delete-forbidden', 'stripe-refund-large-needs-approval'];

const get = async () => (await service.operator.get('/v1/policies')).body;
const put = (body: object, ifMatch?: string): Promise<ApiAnswer> =>
  service.operator.call('PUT', '/v1/policies', body, ifMatch ? { headers: { 'if-match': ifMatch } } : {});
const post = (what: string, body: object): Promise<ApiAnswer> =>
  service.operator.post(`/v1/policies/${what}`, body);

describe('GET /v1/policies', () => {
  test('has the base set of the policy folder and the tenant’s own, with the revision as ETag', async () => {
    await put({ text: RELEASE_ALLOWED });
    const answer = await service.operator.get('/v1/policies');
    expectOk(answer, { activated_by: 'operator-1', tenant: { 'deploy-release-allowed': RELEASE_ALLOWED } });
    expect(Object.keys(answer.body.base)).toEqual(expect.arrayContaining(STARTER_IDS));
    expect(answer.headers.get('etag')).toBe(`"${answer.body.revision}"`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const decided = await authorize(service.agent, refund(1));
    expect(decided.body.policy_revision).toBe(answer.body.revision);
  });

  test('names nobody for a set that came from the policy folder', async () => {
    const fresh = await startTestService();
    try {
      expectOk(await fresh.operator.get('/v1/policies'), { activated_by: null, tenant: {} });
    } finally {
      await fresh.close();
    }
  });

  test('is for operators', async () => {
    const auditor = await newActor(service, ['auditor']);
    for (const client of [service.agent, service.approver, auditor.client]) {
      expectProblem(await client.get('/v1/policies'), 403, 'forbidden');
      expectProblem(await client.call('PUT', '/v1/policies', { text: '' }), 403, 'forbidden');
    }
  });
});

describe('PUT /v1/policies', () => {
  test('decides the very next call by the new set', async () => {
    expectOk(await authorize(service.agent, release('web')), { decision: 'deny' });
    const answer = await put({ text: RELEASE_ALLOWED, note: 'releases are tested\nbefore' });
    expectOk(answer, { tenant: { 'deploy-release-allowed': RELEASE_ALLOWED }, activated_by: 'operator-1' });
    expect(answer.headers.get('etag')).toBe(`"${answer.body.revision}"`);
    expectOk(await authorize(service.agent, release('web')), {
      decision: 'allow',
      determining_policies: ['deploy-release-allowed'],
      policy_revision: answer.body.revision,
    });
  });

  test('replaces the whole own set, and an empty text empties it', async () => {
    await put({ text: `${RELEASE_ALLOWED}\n${NO_LARGE_REFUNDS}` });
    expectOk(await put({ text: NO_LARGE_REFUNDS }), { tenant: { 'no-large-refunds': NO_LARGE_REFUNDS } });
    expectOk(await authorize(service.agent, release('web')), { decision: 'deny' });
    expectOk(await put({ text: '' }), { tenant: {} });
  });

  test('adds a forbid to the base permits, and cannot take a base forbid away', async () => {
    await put({
      text: `${NO_LARGE_REFUNDS}
@id("crm-delete-allowed")
permit (principal is Aegis::Agent, action == Aegis::Action::"crm.delete_customer", resource);`,
    });
    expectOk(await authorize(service.agent, refund(9000)), {
      decision: 'deny',
      determining_policies: ['no-large-refunds'],
    });
    const removal = { tool: 'crm', action: 'delete_customer', mutates_state: true };
    expectOk(await authorize(service.agent, { ...removal, parameters: { customer_id: 'c' } }), {
      decision: 'deny',
      determining_policies: expect.arrayContaining(['crm-delete-forbidden']),
    });
  });

  test('an unchanged set stays the same revision, and is no event', async () => {
    const first = await put({ text: RELEASE_ALLOWED });
    const again = await put({ text: RELEASE_ALLOWED });
    expect(again.body).toEqual(first.body);
  });

  test('with If-Match changes what was read, and nothing else', async () => {
    const { revision } = await get();
    expectOk(await put({ text: RELEASE_ALLOWED }, `"${revision}"`));
    const stale = await put({ text: '' }, `"${revision}"`);
    expectProblem(stale, 412, 'stale_version', { detail: expect.stringMatching(/Read it/) });
    expectOk(await service.operator.get('/v1/policies'), {
      tenant: { 'deploy-release-allowed': RELEASE_ALLOWED },
    });
  });

  test.each(['*', 'W/"1"', '"1"', `"${'a'.repeat(64)}", "${'b'.repeat(64)}"`, 'a'.repeat(64)])(
    'If-Match: %s is 422',
    async (tag) => {
      expectProblem(await put({ text: '' }, tag), 422, 'invalid_request');
    },
  );

  test('names line and column in the text, what is wrong, and what would mend it', async () => {
    const text = `// own policies\n${RELEASE_ALLOWED}\n\n@id("typo")
permit (principal is Aegis::Agent, action == Aegis::Action::"deploy.release", resource)
when { context.parameters.servce == "web" };`;
    const answer = await put({ text });
    expectProblem(answer, 422, 'policy_invalid', { detail: expect.stringMatching(/validate/) });
    const [error] = answer.body.errors;
    expect(error).toEqual({
      policy_id: 'typo',
      message: expect.stringMatching(/servce/),
      help: expect.stringMatching(/service/),
      line: expect.any(Number),
      column: expect.any(Number),
    });
    expect(text.split('\n').slice(4, 7)).toContain(text.split('\n')[error.line - 1]);
  });

  test.each([
    [{}, '/text'],
    [{ text: 7 }, '/text'],
    [{ text: '', note: '' }, '/note'],
    [{ text: '', note: 'a\u202eb' }, '/note'],
    [{ text: '', more: 1 }, '/more'],
  ])('%j is 422', async (body, pointer) => {
    const answer = await put(body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toContainEqual({ pointer, reason: expect.any(String) });
  });

  test('takes a body of 8 MiB, and no more', async () => {
    const comment = (bytes: number) => `// ${'x'.repeat(bytes)}\n`;
    expectOk(await put({ text: comment(300 * 1024) + RELEASE_ALLOWED }));
    expectProblem(await put({ text: comment(8 * 1024 * 1024) }), 413, 'body_too_large');
  });
});

describe('POST /v1/policies/validate', () => {
  test('says what PUT would, and stores nothing', async () => {
    const before = await get();
    expectOk(await post('validate', { text: RELEASE_ALLOWED }), { valid: true, errors: [] });
    const refused = await post('validate', { text: RELEASE_ALLOWED.replace('@id', '@idd') });
    expectOk(refused, { valid: false });
    expect(refused.body.errors).toEqual(
      (await put({ text: RELEASE_ALLOWED.replace('@id', '@idd') })).body.errors,
    );
    expect(await get()).toEqual(before);
  });

  test('knows the base set and the tools of the tenant', async () => {
    const [baseId] = STARTER_IDS;
    const taken = await post('validate', {
      text: RELEASE_ALLOWED.replace('deploy-release-allowed', baseId ?? ''),
    });
    expectOk(taken, { valid: false, errors: [{ policy_id: baseId, line: 1, column: 1 }] });
    const unknown = await post('validate', {
      text: RELEASE_ALLOWED.replace('deploy.release', 'deploy.realese'),
    });
    expectOk(unknown, { valid: false });
    expect(unknown.body.errors[0].message).toMatch(/deploy\.realese/);
  });
});

/** So many policies that checking them is under way for a while. */
const many = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    RELEASE_ALLOWED.replace('deploy-release-allowed', `many-${index}`),
  ).join('\n');

describe('a tenant that has much checked at once', () => {
  test('is told to wait, whatever checks it, and its agents are answered', async () => {
    const text = many(100);
    const checks = [
      ...Array.from({ length: 30 }, () => post('validate', { text })),
      ...Array.from({ length: 3 }, () => post('simulate', { text })),
      put({ text }),
    ];
    expectOk(await authorize(service.agent, refund(1)), { decision: 'allow' });
    const answers = await Promise.all(checks);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(3);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, 429, 'throttled', { detail: expect.stringMatching(/Wait .* then send/) });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expectOk(await post('validate', { text: '' }), { valid: true });
  });
});

describe('POST /v1/policies/simulate', () => {
  test('tells the decisions and approvals that would flip, and stores nothing', async () => {
    const agent = await newAgent(service);
    const small = await authorize(agent.client, refund(100));
    const pending = await ask(agent.client, refund(9000));
    const approved = await askApproved(agent.client, service.approver, refund(8000));
    const before = await get();
    const answer = await post('simulate', { text: NO_LARGE_REFUNDS });
    expectOk(answer);
    const { flips, voided_approvals: voided } = answer.body;
    const flipOf = (id: string) => flips.find((flip: { id: string }) => flip.id === id);
    const denied = { from: 'require_approval', to: 'deny', determining_policies: ['no-large-refunds'] };
    expect(flipOf(pending)).toEqual({ kind: 'approval', id: pending, ...denied });
    expect(flipOf(approved)).toEqual({ kind: 'approval', id: approved, ...denied });
    expect(flipOf(small.body.decision_id)).toBeUndefined();
    expect(flips.filter(({ kind }: { kind: string }) => kind === 'decision').length).toBeGreaterThanOrEqual(
      2,
    );
    expect(voided).toBe(flips.filter(({ kind }: { kind: string }) => kind === 'approval').length);
    expect(await get()).toEqual(before);
    expectOk(await agent.client.get(`/v1/approvals/${approved}`), { status: 'approved' });
  });

  test('of the set in force flips nothing', async () => {
    await putPolicies(service.operator, NO_LARGE_REFUNDS);
    const answer = await post('simulate', { text: NO_LARGE_REFUNDS, since: new Date().toISOString() });
    expectOk(answer, { voided_approvals: expect.any(Number) });
    const decisions = answer.body.flips.filter(({ kind }: { kind: string }) => kind === 'decision');
    expect(decisions).toEqual([]);
  });

  test('takes the newest decisions since then, and no more than asked for', async () => {
    const agent = await newAgent(service);
    for (const amount of [1, 2, 3]) await authorize(agent.client, refund(amount));
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const none = await post('simulate', { text: '', since: later });
    const one = await post('simulate', { text: '', limit: 1, since: '2020-01-01T00:00:00Z' });
    const [open] = await service.sql`select count(*)::int as n from approvals
      where status in ('pending', 'approved') and expires_at > clock_timestamp()`;
    expect(none.body.evaluated).toBe(open?.n);
    expect(one.body.evaluated).toBe(1 + Math.min(1, open?.n));
  });

  test('refuses a text as PUT does, and a limit out of range', async () => {
    expectProblem(await post('simulate', { text: 'permit' }), 422, 'policy_invalid');
    for (const limit of [0, 10_001, 1.5]) {
      expectProblem(await post('simulate', { text: '', limit }), 422, 'invalid_request');
    }
  });
});

describe('POST /v1/policies/explain', () => {
  const call = (toolCall: object, more: object = {}) =>
    post('explain', { agent: 'agent-1', tool_call: toolCall, context: TRUSTED, ...more });

  test('says what authorize would, and which policies had what to do with it', async () => {
    const toolCall = refund(9000);
    const decided = await authorize(service.agent, toolCall);
    const answer = await call(toolCall);
    expectOk(answer, {
      decision: 'require_approval',
      determining_policies: decided.body.determining_policies,
      policy_revision: decided.body.policy_revision,
    });
    const large = answer.body.contributions.find(
      (one: { policy_id: string }) => one.policy_id === 'stripe-refund-large-needs-approval',
    );
    expect(large).toMatchObject({ effect: 'permit', annotations: { decision: 'require_approval' } });
    const idsOf = (list: { policy_id: string }[]) => list.map(({ policy_id }) => policy_id);
    expect(idsOf(answer.body.contributions)).toEqual(decided.body.determining_policies);
    expect(idsOf(answer.body.nearly)).toContain('stripe-refund-small-allowed');
    expect(JSON.stringify(answer.body.facts)).toContain('trusted_internal');
  });

  test('stores nothing, and takes a whole authorize body', async () => {
    const count = () => service.sql`select count(*) from decisions`;
    const before = await count();
    expectOk(await call(refund(100), { dry_run: true }), { decision: 'allow' });
    expect(await count()).toEqual(before);
    const wrong = await call(refund(100), { action_hash: 'f'.repeat(64) });
    expectProblem(wrong, 422, 'action_hash_mismatch');
  });

  test('takes the agent’s groups as they are, and the context as given', async () => {
    const grouped = `@id("blue-may-release")
permit (principal in Aegis::Group::"blue", action == Aegis::Action::"deploy.release", resource)
when { context has environment && context.environment == "production" };`;
    await putPolicies(service.operator, grouped);
    const blue = await newAgent(service, { groups: ['blue'], environments: ['staging'] });
    const context = { ...TRUSTED, environment: 'production' };
    const asBlue = await call(release('web'), { agent: blue.principal, context });
    expectOk(asBlue, { decision: 'allow', determining_policies: ['blue-may-release'] });
    expectOk(await call(release('web'), { context }), { decision: 'deny' });
  });

  test('takes an agent that is not known for one without groups', async () => {
    expectOk(await call(refund(100), { agent: 'nobody-yet' }), { decision: 'allow' });
    expectProblem(await call(refund(100), { agent: 'no body' }), 422, 'invalid_request');
  });

  test('explains an ask that nobody could answer as the deny it would be', async () => {
    await putPolicies(service.operator, releaseAsk('@groups("legal")'));
    const answer = await call(release('web'));
    expectOk(answer, { decision: 'deny' });
    expect(answer.body.reason).toMatch(/too few people/);
  });
});
