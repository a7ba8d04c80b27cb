import { afterAll, describe, expect, test } from 'vitest';
import { authorize, refund } from '../support/calls.ts';
import { startTestService } from '../support/test_service.ts';
import { type Actor, expectOk, expectProblem, newAgent, ROOMY, readApproval } from './support.ts';

const service = await startTestService({ env: ROOMY });
afterAll(() => service.close());

/** Asks with a claimed context; the context as used. */
async function usedContext(agent: Actor, claimed: object) {
  const answer = await authorize(agent.client, refund(9000), { context: claimed });
  expectOk(answer, { decision: 'require_approval' });
  return (await readApproval(service.approver, answer.body.approval.approval_id)).context;
}

describe('source_trust_ceiling: a claim tightens from it and never passes it', () => {
  const ORDER = ['trusted_internal', 'trusted_external', 'semi_trusted', 'unknown'];

  test.each(ORDER)('%s', async (ceiling) => {
    const agent = await newAgent(service, { source_trust_ceiling: ceiling });
    for (const claim of ORDER) {
      const expected = ORDER[Math.max(ORDER.indexOf(ceiling), ORDER.indexOf(claim))];
      expect((await usedContext(agent, { source_trust: claim })).source_trust).toBe(expected);
    }
    expectOk(await authorize(agent.client, refund(9000), { context: { source_trust: 'untrusted' } }), {
      decision: 'deny',
      determining_policies: ['untrusted-origin-changes-nothing'],
    });
  });

  test('untrusted: whatever is claimed, nothing may change', async () => {
    const agent = await newAgent(service, { source_trust_ceiling: 'untrusted' });
    expectOk(await authorize(agent.client, refund(1)), { decision: 'deny' });
  });

  test('without a claim the origin is unknown, whatever the ceiling', async () => {
    const agent = await newAgent(service);
    const answer = await agent.client.post('/v1/authorize', { tool_call: refund(1) });
    expectOk(answer, { decision: 'require_approval' });
  });
});

describe.each([
  ['environments', 'environment'],
  ['workspaces', 'workspace'],
] as const)('%s', (list, member) => {
  test('one of the list is used as claimed; another is 403', async () => {
    const agent = await newAgent(service, { [list]: ['one', 'two'] });
    expect((await usedContext(agent, { [member]: 'two' }))[member]).toBe('two');
    expectProblem(
      await authorize(agent.client, refund(1), { context: { [member]: 'three' } }),
      403,
      'forbidden',
    );
    expectProblem(
      await authorize(agent.client, refund(1), { context: { [member]: 'One' } }),
      403,
      'forbidden',
    );
  });

  test('absent or null, it becomes the list’s only member', async () => {
    const agent = await newAgent(service, { [list]: ['only'] });
    expect((await usedContext(agent, {}))[member]).toBe('only');
    expect((await usedContext(agent, { [member]: null }))[member]).toBe('only');
    expectProblem(
      await authorize(agent.client, refund(1), { context: { [member]: 'other' } }),
      403,
      'forbidden',
    );
  });

  test('absent with several in the list is 403, and nothing is stored', async () => {
    const agent = await newAgent(service, { [list]: ['one', 'two'] });
    expectProblem(await authorize(agent.client, refund(9000)), 403, 'forbidden', {
      detail: expect.stringMatching(member),
    });
    const stored = await service.sql`select from decisions where agent = ${agent.principal}`;
    expect(stored).toHaveLength(0);
  });

  test('without a list any is used, and none', async () => {
    const agent = await newAgent(service);
    expect((await usedContext(agent, { [member]: 'anywhere' }))[member]).toBe('anywhere');
    expect((await usedContext(agent, {}))[member]).toBe(null);
  });

  test('an empty list is refused', async () => {
    const answer = await service.operator.post('/v1/keys', { principal: 'a', roles: ['agent'], [list]: [] });
    expectProblem(answer, 422, 'invalid_request');
  });
});

test('an unattended key makes every call unattended, whatever the call says', async () => {
  const agent = await newAgent(service, { unattended: true });
  for (const context of [{}, { unattended: false }, { unattended: true }]) {
    expectOk(await authorize(agent.client, refund(9000), { context }), {
      decision: 'deny',
      denial: { by: 'unattended' },
    });
  }
});

test('limits are the key’s, not the principal’s', async () => {
  const agent = await newAgent(service, { source_trust_ceiling: 'unknown', environments: ['staging'] });
  const other = await service.operator.post('/v1/keys', { principal: agent.principal, roles: ['agent'] });
  expectOk(
    await authorize(service.as(other.body.key), refund(1), { context: { environment: 'production' } }),
    {
      decision: 'allow',
    },
  );
  expectOk(await authorize(agent.client, refund(1)), { decision: 'require_approval' });
});
