import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, askApproved, authorize, refund } from '../support/calls.ts';
import { copyPolicies } from '../support/policies.ts';
import { startTestService, type TestService } from '../support/test_service.ts';

// NO SILENT DRIFT, with two processes on one database: only the active rules decide, on whichever of them.

const policies = copyPolicies('stripe.cedar', { 'more than 5000 cents needs': 'over 5000 cents needs' });

/** Started first, with the starter set. */
let old: TestService;
/** Started later on the same database: the rules of its folder are the active ones. */
let current: TestService;
let starterRevision: string;
let approvedBefore: string;
let pendingBefore: string;

const KEYED = { headers: { 'Idempotency-Key': 'first-answer' } };
const KEYED_BODY = { tool_call: refund(9000), context: { source_trust: 'trusted_internal' } };
let firstAnswer: Record<string, unknown>;

beforeAll(async () => {
  old = await startTestService();
  starterRevision = (await old.anonymous.get('/readyz')).body.policy_revision;
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

describe('a process that started with other rules than the active ones', () => {
  test('decides by the active ones at once, and by no others', async () => {
    const { policy_revision: active } = (await current.anonymous.get('/readyz')).body;
    expect(active).not.toBe(starterRevision);
    const answers = [
      await authorize(old.agent, refund(100)),
      await authorize(old.agent, refund(9000)),
      await authorize(old.agent, refund(100), { dry_run: true }),
      await old.agent.post(
        '/v1/authorize',
        { tool_call: refund(1) },
        { headers: { 'Idempotency-Key': 'x' } },
      ),
    ];
    for (const { status, body } of answers) {
      expect({ status, revision: body.policy_revision }).toEqual({ status: 200, revision: active });
    }
    expect(answers[1]?.body.reason).toMatch(/over 5000 cents needs/);
    expect((await old.anonymous.get('/readyz')).body).toMatchObject({
      status: 'ready',
      policy_revision: active,
    });
  });

  test('judges votes by them, and brings what was asked before up to date', async () => {
    const { body } = await old.approver.post(`/v1/approvals/${pendingBefore}/approve`);
    expect(body).toMatchObject({ status: 'approved' });
    expect(body.policy_revision).not.toBe(starterRevision);
  });

  test('makes tenants that are born under them', async () => {
    await old.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await old.operator.post('/v1/tenants', { tenant_id: 'late-one' });
    const theirs = await old.as(made.body.operator_key.key).get('/v1/policies');
    const { body } = await current.anonymous.get('/readyz');
    expect(theirs.body.revision).toBe(body.policy_revision);
  });
});

test('an idempotent answer of the former rules is decided anew under the same key, once, on every process', async () => {
  const agent = current.as(old.tokens.AGENT);
  const anew = await agent.post('/v1/authorize', KEYED_BODY, KEYED);
  expect(anew.headers.has('idempotency-replayed')).toBe(false);
  expect(anew.body.policy_revision).not.toBe(firstAnswer.policy_revision);
  expect(anew.body.decision_id).not.toBe(firstAnswer.decision_id);
  expect(anew.body.approval.approval_id).not.toBe((firstAnswer.approval as typeof anew.body).approval_id);
  for (const client of [agent, old.agent]) {
    const replayed = await client.post('/v1/authorize', KEYED_BODY, KEYED);
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    expect(replayed.body).toStrictEqual(anew.body);
  }
});

test('an approval given under the former rules is examined and used on either process', async () => {
  const consumed = await old.agent.post(`/v1/approvals/${approvedBefore}/consume`);
  expect(consumed.body).toMatchObject({ status: 'consumed', replayed: false });
});
