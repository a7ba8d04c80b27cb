import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { authorize } from '../support/calls.ts';
import { putPolicies, putTool } from '../support/rules.ts';
import { startTestService, type TestService } from '../support/test_service.ts';
import { expectOk, newActor, newAgent, ROOMY } from './support.ts';

let service: TestService;

const OPERATIONS = {
  plain: { mutates_state: true },
  safe: { mutates_state: true, idempotent: true },
  destroys: { mutates_state: true, destructive: true },
  marked: { mutates_state: true, requires_approval: true },
  trusted: { mutates_state: true, destructive: true, permission: 'allow' },
  barred: { mutates_state: true, permission: 'deny' },
  asked: { mutates_state: false, idempotent: true, permission: 'ask' },
};

beforeAll(async () => {
  service = await startTestService({ env: ROOMY });
  for (const [action, registration] of Object.entries(OPERATIONS)) {
    await putTool(service.operator, 'kit', action, registration);
  }
  const permits = Object.keys(OPERATIONS).map(
    (action) => `@id("kit-${action}-permitted")
permit (principal is Aegis::Agent, action == Aegis::Action::"kit.${action}", resource);`,
  );
  await putPolicies(service.operator, permits.join('\n'));
});
afterAll(() => service.close());
afterEach(() => setTier('auto'));

async function setTier(tier: string): Promise<void> {
  expectOk(await service.operator.call('PUT', '/v1/settings', { tier }), { tier });
}

async function decide(action: string, context: object = {}, client = service.agent): Promise<string> {
  const call = { tool: 'kit', action, resource: null, mutates_state: true, parameters: {} };
  const answer = await authorize(client, call, { context });
  expectOk(answer);
  return answer.body.decision;
}

describe.each([
  [
    'ask',
    { plain: 'require_approval', safe: 'allow', destroys: 'require_approval', marked: 'require_approval' },
  ],
  ['auto', { plain: 'allow', safe: 'allow', destroys: 'require_approval', marked: 'require_approval' }],
  ['full', { plain: 'allow', safe: 'allow', destroys: 'allow', marked: 'allow' }],
])('under the tenant tier %s', (tier, expected) => {
  test.each(Object.entries(expected))('%s is %s', async (action, decision) => {
    await setTier(tier);
    expect(await decide(action)).toBe(decision);
  });

  test.each([
    ['trusted', 'allow'],
    ['barred', 'deny'],
    ['asked', 'require_approval'],
  ])('an explicit permission wins: %s is %s', async (action, decision) => {
    await setTier(tier);
    expect(await decide(action)).toBe(decision);
  });
});

describe('a call', () => {
  test('tightens the tier', async () => {
    expect(await decide('plain', { tier: 'ask' })).toBe('require_approval');
  });

  test('does not loosen it', async () => {
    expect(await decide('destroys', { tier: 'full' })).toBe('require_approval');
  });

  test('has the tier of its session before that of its tenant', async () => {
    const session_id = `s-${randomUUID()}`;
    const path = `/v1/agents/agent-1/sessions/${session_id}`;
    expectOk(await service.operator.call('PUT', path, { tier: 'full' }), { tier: 'full' });

    expect(await decide('destroys', { session_id })).toBe('allow');
    expect(await decide('destroys', { session_id, tier: 'auto' })).toBe('require_approval');
    expect(await decide('destroys', { session_id: 'another' })).toBe('require_approval');
    const other = await newAgent(service);
    expect(await decide('destroys', { session_id }, other.client)).toBe('require_approval');
  });

  test('is shown with the tier it was decided under', async () => {
    const call = { tool: 'kit', action: 'destroys', resource: null, mutates_state: true, parameters: {} };
    const answer = await authorize(service.agent, call);

    const approval = await service.agent.get(`/v1/approvals/${answer.body.approval.approval_id}`);

    expect(approval.body.context.tier).toBe('auto');
  });
});

describe('a run that goes on for another', () => {
  const newRun = () => `r-${randomUUID()}`;

  test('keeps the tier of its origin, also through a further one and from another agent', async () => {
    const [origin, child, grandchild] = [newRun(), newRun(), newRun()];
    await decide('safe', { run_id: origin, tier: 'ask' });
    const other = await newAgent(service);

    expect(await decide('plain', { run_id: child, parent_run_id: origin })).toBe('require_approval');
    expect(await decide('plain', { run_id: grandchild, parent_run_id: child }, other.client)).toBe(
      'require_approval',
    );
    expect(await decide('plain', { run_id: newRun() })).toBe('allow');
  });

  test.each([
    ['unattended', { unattended: true }, 'destroys', 'deny'],
    ['less trusted', { source_trust: 'semi_trusted' }, 'plain', 'require_approval'],
    ['untrusted', { source_trust: 'untrusted' }, 'plain', 'deny'],
  ])('is %s as its origin was', async (_, context, action, decision) => {
    const origin = newRun();
    await decide('asked', { run_id: origin, ...context });

    expect(await decide(action, { parent_run_id: origin })).toBe(decision);
  });

  test('has the least favourable circumstances that any call of its origin had', async () => {
    const origin = newRun();
    await decide('safe', { run_id: origin });
    await decide('safe', { run_id: origin, source_trust: 'untrusted' });
    await decide('safe', { run_id: origin });

    expect(await decide('plain', { parent_run_id: origin })).toBe('deny');
  });

  test('stays bound when its later calls no longer name their origin', async () => {
    const [origin, child] = [newRun(), newRun()];
    await decide('asked', { run_id: origin, source_trust: 'untrusted' });
    expect(await decide('plain', { run_id: child, parent_run_id: origin })).toBe('deny');

    expect(await decide('plain', { run_id: child })).toBe('deny');
    expect(await decide('plain', { run_id: newRun() })).toBe('allow');
  });

  test('is unattended and of unknown origin when nothing is known of its origin', async () => {
    const call = { tool: 'kit', action: 'plain', resource: null, mutates_state: true, parameters: {} };

    const answer = await authorize(service.agent, call, { context: { parent_run_id: newRun() } });

    expectOk(answer, { decision: 'deny', denial: { by: 'unattended' } });
  });

  test('does not take what another tenant has for its origin', async () => {
    const origin = newRun();
    await service.sql`update keys set roles = '{operator,platform}' where principal = 'operator-1'`;
    const made = await service.operator.post('/v1/tenants', { tenant_id: `t-${randomUUID()}` });
    const operator = service.as(made.body.operator_key.key);
    const foreign = await newActor({ ...service, operator } as TestService, ['agent']);
    await authorize(
      foreign.client,
      { tool: 'x', action: 'y', mutates_state: true, parameters: {} },
      { context: { run_id: origin } },
    );

    expect(await decide('destroys', { parent_run_id: origin })).toBe('deny');
  });
});
