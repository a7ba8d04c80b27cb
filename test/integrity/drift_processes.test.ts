import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, askApproved, authorize, refund } from '../support/calls.ts';
import { copyPolicies } from '../support/policies.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// NO SILENT DRIFT, with two sets of rules at once: only the active one decides, on whichever process.

const policies = copyPolicies('stripe.cedar', { 'more than 5000 cents needs': 'over 5000 cents needs' });

/** Started first, with the starter set. */
let old: TestService;
/** Started later on the same database: its rules are the active ones. */
let current: TestService;
let approvedBefore: string;
let pendingBefore: string;

const KEYED = { headers: { 'Idempotency-Key': 'first-answer' } };
const KEYED_BODY = { tool_call: refund(9000), context: { source_trust: 'trusted_internal' } };
let firstAnswer: Record<string, unknown>;

beforeAll(async () => {
  old = await startTestService();
  approvedBefore = await askApproved(old.agent, old.approver);
  pendingBefore = await ask(old.agent);
  firstAnswer = (await old.agent.post('/v1/authorize', KEYED_BODY, KEYED)).body;
  current = await startTestService({
    databaseUrl: old.databaseUrl,
    env: { AEGIS_POLICY_DIR: policies.path },
  });
});
afterAll(async () => {
  await current.close();
  await old.close();
  policies.remove();
});

const UNAVAILABLE = { status: 503, body: { code: 'unavailable' } };

describe('a process whose rules are not the active ones', () => {
  test('decides nothing: authorize, approve, edit and consume are 503, and nothing has changed', async () => {
    const counts = () => old.sql`
      select (select count(*) from decisions) as decisions, (select count(*) from votes) as votes,
             (select count(*) from approvals) as approvals`;
    const before = await counts();
    const { body } = await old.agent.get(`/v1/approvals/${pendingBefore}`);
    const edited = { ...body.tool_call, parameters: { amount: 7000, currency: 'usd' } };
    const answers = [
      await authorize(old.agent, refund(100)),
      await authorize(old.agent, refund(9000)),
      await authorize(old.agent, refund(100), { dry_run: true }),
      await old.agent.post('/v1/authorize', KEYED_BODY, KEYED),
      await old.agent.post(
        '/v1/authorize',
        { tool_call: refund(1) },
        { headers: { 'Idempotency-Key': 'x' } },
      ),
      await old.approver.post(`/v1/approvals/${pendingBefore}/approve`),
      await old.approver.post(`/v1/approvals/${pendingBefore}/edit`, { tool_call: edited }),
      await old.agent.post(`/v1/approvals/${approvedBefore}/consume`),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject(UNAVAILABLE);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(await counts()).toStrictEqual(before);
    expect((await old.agent.get(`/v1/approvals/${approvedBefore}`)).body.status).toBe('approved');
  });

  test('judges no vote on what was asked for under the active rules', async () => {
    const id = await ask(current.as(old.tokens.AGENT));
    expect(await old.approver.post(`/v1/approvals/${id}/approve`)).toMatchObject(UNAVAILABLE);
    const { body } = await current.as(old.tokens.APPROVER).post(`/v1/approvals/${id}/approve`);
    expect(body.status).toBe('approved');
  });

  test('makes no tenant, which would be born under its rules', async () => {
    await old.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const tenant = { tenant_id: 'late-one' };
    expect(await old.operator.post('/v1/tenants', tenant)).toMatchObject(UNAVAILABLE);
    const made = await current.as(old.tokens.OPERATOR).post('/v1/tenants', tenant);
    expect(made.status).toBe(201);
  });

  test('is not ready, and says why; the other is', async () => {
    const notReady = await old.anonymous.get('/readyz');
    expect(notReady.status).toBe(503);
    expect(notReady.body.checks.policy).toMatch(/active revision is not the one loaded here/);
    const ready = await current.anonymous.get('/readyz');
    expect(ready).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(ready.body.policy_revision).not.toBe(notReady.body.policy_revision);
  });

  test('still reads', async () => {
    expect((await old.agent.get(`/v1/approvals/${pendingBefore}`)).body.status).toBe('pending');
  });
});

test('an idempotent answer of the former rules is decided anew under the same key, once', async () => {
  const agent = current.as(old.tokens.AGENT);
  const anew = await agent.post('/v1/authorize', KEYED_BODY, KEYED);
  expect(anew.headers.has('idempotency-replayed')).toBe(false);
  expect(anew.body.policy_revision).not.toBe(firstAnswer.policy_revision);
  expect(anew.body.decision_id).not.toBe(firstAnswer.decision_id);
  expect(anew.body.approval.approval_id).not.toBe((firstAnswer.approval as typeof anew.body).approval_id);
  // The process with the former rules neither gives the old answer nor takes the new one away.
  expect(await old.agent.post('/v1/authorize', KEYED_BODY, KEYED)).toMatchObject(UNAVAILABLE);
  const replayed = await agent.post('/v1/authorize', KEYED_BODY, KEYED);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expect(replayed.body).toStrictEqual(anew.body);
});

test('an approval asked for under the former rules is used on the process that has the active ones', async () => {
  const consumed = await current.as(old.tokens.AGENT).post(`/v1/approvals/${approvedBefore}/consume`);
  expect(consumed.body).toMatchObject({ status: 'consumed', replayed: false });
});
