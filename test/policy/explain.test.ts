import { describe, expect, test } from 'vitest';
import type { AskStanding, DecisionRequest, PolicySet } from '../../src/core/policy.ts';
import { parseStrictJson } from '../../src/core/strict_json.ts';
import { buildPolicySet, loadPolicySet } from './policy_sets.ts';
import { POLICY_DIRECTORY, registration, request, settle } from './support.ts';

const ROUTABLE: AskStanding = { routable: true, deniedBefore: false };
const starter = await loadPolicySet(POLICY_DIRECTORY);
const refund = (amount: number, context = {}) =>
  request('stripe', 'refund', { amount, currency: 'usd' }, context);

function applied(set: PolicySet, call: DecisionRequest, standing = ROUTABLE): string[] {
  return set
    .explain(call, standing)
    .contributions.filter((one) => one.applied)
    .map(({ policyId }) => policyId);
}

describe('an explanation', () => {
  test.each([
    ['an allow', refund(100), ROUTABLE],
    ['an ask', refund(6_000), ROUTABLE],
    ['a deny by a forbid', refund(100, { source_trust: 'untrusted' }), ROUTABLE],
    ['a default deny', request('github', 'merge', {}), ROUTABLE],
    ['an ask that is not put to anyone', refund(6_000), { routable: false, deniedBefore: true }],
    ['parameters that do not fit', request('stripe', 'refund', { amount: 'x' }), ROUTABLE],
    ['a name that is refused', request('\u200b', 'x', {}), ROUTABLE],
    ['a call of no form', {} as DecisionRequest, ROUTABLE],
  ])('of %s has the decision that is made', (_, call, standing) => {
    expect(starter.explain(call, standing).decision).toEqual(settle(starter, call, standing));
  });

  test('says which policies applied, and then which were consulted and did not', () => {
    const { contributions } = starter.explain(refund(6_000), ROUTABLE);

    expect(contributions[0]).toEqual({
      policyId: 'stripe-refund-large-needs-approval',
      effect: 'permit',
      applied: true,
      annotations: {
        id: 'stripe-refund-large-needs-approval',
        decision: 'require_approval',
        reason: 'a refund of more than 5000 cents needs an approval',
      },
    });
    const rest = contributions.slice(1);
    expect(rest.every((one) => !one.applied)).toBe(true);
    const ids = rest.map(({ policyId }) => policyId);
    expect(ids).toEqual(ids.toSorted());
    expect(ids).toEqual(
      expect.arrayContaining([
        'permission-denied',
        'stripe-refund-small-allowed',
        'unattended-run-cannot-ask',
      ]),
    );
    expect(ids).not.toContain('crm-read-allowed');
    expect(ids).not.toContain('approver-may-decide');
  });

  test('names what the second word on an ask adds, and only where there is an ask', () => {
    const standing = { routable: false, deniedBefore: false };

    expect(applied(starter, refund(6_000), standing)).toEqual([
      'stripe-refund-large-needs-approval',
      'unroutable-ask-is-denied',
    ]);
    expect(applied(starter, refund(100), standing)).toEqual(['stripe-refund-small-allowed']);
  });

  test('tells all facts, whatever of them the policies read, as strict JSON without marks', () => {
    const call = refund(6_000, { workspace: 'repo:a' });
    const { facts } = starter.explain({ ...call, paused: true }, ROUTABLE);

    expect(parseStrictJson(JSON.stringify(facts))).toEqual({
      principal: {
        entity: 'Aegis::Agent::"agent-1"',
        groups: ['Aegis::Group::"bots"'],
        attributes: { risk_tier: 'unrated', owner: 'Aegis::Approver::"olga"' },
      },
      action: {
        entity: 'Aegis::Action::"stripe.refund"',
        groups: ['Aegis::Action::"write"', 'Aegis::Action::"invoke"'],
        attributes: {},
      },
      resource: {
        entity: 'Aegis::Resource::""',
        groups: ['Aegis::Tool::"stripe"'],
        attributes: { path: '' },
      },
      context: {
        tool: {
          registered: true,
          mutates_state: true,
          idempotent: false,
          destructive: false,
          requires_approval: false,
        },
        parameters: { amount: 6_000, currency: 'usd' },
        paths: {},
        hosts: {},
        source_trust: 'Aegis::Trust::"trusted_internal"',
        contains_sensitive_data: false,
        tier: 'Aegis::Tier::"auto"',
        unattended: false,
        paused: true,
        workspace: 'repo:a',
        now: '2026-01-02T03:04:05.678Z',
        routable: true,
        denied_before: false,
      },
    });
  });

  test('writes decimals and a permission as a policy would', () => {
    const schema = { type: 'object', properties: { price: { type: 'number', multipleOf: 0.01 } } };
    const set = buildPolicySet({
      policies: {},
      tools: [registration('t', 'a', { parameters_schema: schema, permission: 'ask' })],
    });

    expect(set.explain(request('t', 'a', { price: 1.5 }), ROUTABLE).facts).toMatchObject({
      context: { tool: { permission: 'Aegis::Permission::"ask"' }, parameters: { price: '1.5000' } },
    });
  });
});
