import { describe, expect, test } from 'vitest';
import type { PolicyTexts, Rules } from '../../src/core/rules.ts';
import { compileRules } from '../../src/policy/compile.ts';
import { openRules } from '../../src/policy/open.ts';
import { registration, request } from './support.ts';

const PERMIT = 'permit (principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
const FORBID = 'forbid (principal is Aegis::Agent, action in Aegis::Action::"invoke", resource)';
const PAY = registration('pay', 'out');

function rules(tenant: PolicyTexts = {}, rest: Partial<Rules> = {}): Rules {
  const base = { policies: { base: `@id("base") ${PERMIT};` }, tools: [{ ...PAY }] };
  return { base, policies: tenant, tools: [], permissions: [], ...rest };
}

function compile(given: Rules) {
  const compilation = compileRules(given);
  if (compilation.kind === 'refused') throw new TypeError(JSON.stringify(compilation.problems));
  return compilation.compiled;
}

function problemsOf(given: Rules) {
  const compilation = compileRules(given);
  return compilation.kind === 'refused' ? compilation.problems : [];
}

describe('base and tenant policies', () => {
  test('decide together', () => {
    const set = openRules(compile(rules({ own: `@id("own") ${FORBID};` })));

    expect(set.decide(request('pay', 'out', {}))).toMatchObject({
      decision: 'deny',
      determiningPolicies: ['own'],
    });
    set.dispose();
  });

  test('may not have one id: no tenant replaces a base forbid', () => {
    expect(problemsOf(rules({ base: `@id("base") ${PERMIT};` }))).toEqual([
      expect.objectContaining({ policyId: 'base', message: 'its `@id` is taken by a base policy' }),
    ]);
  });

  test('are refused when a key is not the policy’s own id', () => {
    expect(problemsOf(rules({ own: `@id("base") ${FORBID};` }))).toEqual([
      expect.objectContaining({ policyId: 'own', message: 'its `@id` is missing or another' }),
    ]);
  });
});

describe('the revision', () => {
  const one = { a: `@id("a") ${PERMIT};`, b: `@id("b") ${FORBID};` };
  const { revision } = compile(rules(one));

  test('is the same in whatever order, and whichever part, the same rules came', () => {
    const reversed = Object.fromEntries(Object.entries(one).toReversed());
    const { base } = rules();
    const all = { base: { ...base, policies: { ...reversed, ...base.policies } }, policies: {} };

    expect(compile(rules(reversed)).revision).toBe(revision);
    expect(compile(rules({}, all)).revision).toBe(revision);
  });

  const others: [string, Rules][] = [
    ['a text', rules({ ...one, b: `@id("b") ${FORBID} when { context.unattended };` })],
    ['a comment in a text', rules({ ...one, b: `@id("b") ${FORBID}; // why` })],
    ['a policy less', rules({ a: one.a })],
    ['a tool', rules(one, { tools: [{ ...registration('pay', 'in') }] })],
    ['a fact of a tool', rules(one, { tools: [{ ...PAY, destructive: true }] })],
    ['a permission', rules(one, { permissions: [{ pattern: 'pay.*', permission: 'deny' }] })],
  ];
  test.each(others)('is another with %s changed', (_, changed) => {
    expect(compile(changed).revision).not.toBe(revision);
  });
});

describe('problems', () => {
  test('of the validator are told by line and column of the policy', () => {
    const text = `@id("own")\n// ü\n${PERMIT}\nwhen { context.tool.sauce };`;

    expect(problemsOf(rules({ own: text }))).toContainEqual(
      expect.objectContaining({ policyId: 'own', source: null, line: 4, column: 8 }),
    );
  });

  test('are no more than a person reads', () => {
    const wrong = Object.fromEntries(
      Array.from({ length: 150 }, (_, index) => [`p${index}`, `@id("p${index}") @vote("2") ${PERMIT};`]),
    );

    const problems = problemsOf(rules(wrong));

    expect(problems).toHaveLength(101);
    expect(problems[99]?.message).toMatch(/@vote/);
    expect(problems[100]?.message).toBe('there are more problems than these');
  });

  test('of tools carry their place', () => {
    const [found] = problemsOf(rules({}, { tools: [{ tool: 'pay', action: 'in' }] }));

    expect(found).toMatchObject({ policyId: null, pointer: '/mutates_state' });
  });
});

test('a set that was disposed of denies and refuses everything', () => {
  const set = openRules(compile(rules()));
  const asked = request('pay', 'out', {});
  const approver = { principal: 'ann', groups: [], roles: ['approver' as const] };
  expect(set.decide(asked).decision).toBe('allow');

  set.dispose();

  expect(set.decide(asked)).toMatchObject({ decision: 'deny', determiningPolicies: [] });
  expect(set.explain(asked, { routable: true, deniedBefore: false }).decision.decision).toBe('deny');
  const resumed = { approver, agent: { principal: 'agent-1', owner: null }, sessionId: null };
  expect(set.judgeResume(resumed).kind).toBe('refused');
});
