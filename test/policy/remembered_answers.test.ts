import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type CedarCall, evaluate, parsePolicy, preparePolicies } from '../../src/policy/cedar.ts';
import { readsOf } from '../../src/policy/reads.ts';
import { evaluateOnce } from '../../src/policy/remembered_answers.ts';
import type { SlicePart } from '../../src/policy/slices.ts';

const NAME = 'a part whose answers are remembered';
const ALLOW = { kind: 'answered', decision: 'allow', reason: ['p0'] };
const DENY = { kind: 'answered', decision: 'deny', reason: [] };
afterEach(() => preparePolicies(NAME, {}));

function prepare(...texts: string[]): SlicePart {
  const parsed = texts.map(parsePolicy).flatMap((one) => (one.kind === 'ok' ? [one.value] : []));
  expect(parsed).toHaveLength(texts.length);
  expect(preparePolicies(NAME, Object.fromEntries(texts.map((text, at) => [`p${at}`, text])))).toEqual({
    kind: 'ok',
    value: null,
  });
  return { preparedName: NAME, reads: readsOf(parsed), policies: new Map() };
}

function callOf({ agent = 'a', resource = 'r', amount = 1 } = {}): CedarCall {
  return {
    principal: { type: 'Aegis::Agent', id: agent },
    action: { type: 'Aegis::Action', id: 'pay.out' },
    resource: { type: 'Aegis::Resource', id: resource },
    context: { parameters: { amount } },
    entities: [],
  };
}

describe('an answer', () => {
  test('is given again without Cedar to who tells the very same, and to nobody else', () => {
    const part = prepare('permit (principal, action, resource) when { context.parameters.amount < 5 };');
    expect(evaluateOnce(part, callOf())).toEqual(ALLOW);
    preparePolicies(NAME, {});
    expect(evaluateOnce(part, callOf())).toEqual(ALLOW);
    expect(evaluateOnce(part, callOf({ amount: 2 }))).toEqual(DENY);
    expect(evaluateOnce(part, callOf({ agent: 'b' }))).toEqual(DENY);
  });

  test('is that of its part: one that takes over the name has its own', () => {
    expect(evaluateOnce(prepare('permit (principal, action, resource);'), callOf())).toEqual(ALLOW);
    const forbidding = prepare('forbid (principal, action, resource);');
    expect(evaluateOnce(forbidding, callOf())).toEqual({ ...DENY, reason: ['p0'] });
  });

  test('that could not be given is not kept', () => {
    const part = prepare('permit (principal, action, resource) when { context.missing };');
    expect(evaluateOnce(part, callOf())).toMatchObject({ kind: 'erred' });
    preparePolicies(NAME, { p0: 'permit (principal, action, resource);' });
    expect(evaluateOnce(part, callOf())).toEqual(ALLOW);
  });

  test.each([
    'permit (principal, action, resource == Aegis::Resource::"r");',
    'permit (principal, action, resource in Aegis::Resource::"r");',
    'permit (principal, action, resource is Aegis::Resource in Aegis::Resource::"r");',
    'permit (principal, action, resource) when { resource == Aegis::Resource::"r" };',
    'permit (principal, action, resource) unless { [Aegis::Resource::"x"].contains(resource) };',
  ])('follows the resource where a policy names it: %s', (text) => {
    const part = prepare(text);
    expect(evaluateOnce(part, callOf({ resource: 'r' }))).toEqual(ALLOW);
    expect(evaluateOnce(part, callOf({ resource: 'x' }))).toEqual(DENY);
  });

  test('serves every resource where no policy names one', () => {
    const part = prepare('permit (principal, action, resource) when { context.parameters.amount < 5 };');
    expect(evaluateOnce(part, callOf({ resource: 'r' }))).toEqual(ALLOW);
    preparePolicies(NAME, {});
    expect(evaluateOnce(part, callOf({ resource: 'x' }))).toEqual(ALLOW);
  });

  test('is not kept of what is long', () => {
    const part = prepare('permit (principal, action, resource);');
    const long = callOf({ agent: 'a'.repeat(2000) });
    expect(evaluateOnce(part, long)).toEqual(ALLOW);
    preparePolicies(NAME, {});
    expect(evaluateOnce(part, long)).toEqual(DENY);
  });
});

test('whatever was asked before, and however much, an answer is what Cedar says', () => {
  const part = prepare(
    'permit (principal, action, resource) when { context.parameters.amount < 700 };',
    'forbid (principal == Aegis::Agent::"c", action, resource) when { context.parameters.amount > 3 };',
    'permit (principal, action, resource) when { resource == Aegis::Resource::"free" };',
  );
  const calls = fc.record({
    agent: fc.constantFrom('a', 'b', 'c'),
    resource: fc.constantFrom('r', 'free'),
    amount: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(calls, (call) => {
      expect(evaluateOnce(part, callOf(call))).toEqual(evaluate(NAME, callOf(call)));
    }),
    { numRuns: 6000 },
  );
});

test('an answer that is asked for again and again outlives many others', () => {
  const part = prepare('permit (principal, action, resource) when { context.parameters.amount < 5 };');
  expect(evaluateOnce(part, callOf())).toEqual(ALLOW);
  for (let amount = 100; amount < 12_000; amount += 1) {
    evaluateOnce(part, callOf({ amount }));
    if (amount % 1000 === 0) evaluateOnce(part, callOf());
  }
  preparePolicies(NAME, { p1: 'permit (principal, action, resource);' });
  expect(evaluateOnce(part, callOf())).toEqual(ALLOW);
  // One that nobody asked for again is asked anew.
  expect(evaluateOnce(part, callOf({ amount: 100 }))).toEqual({ ...ALLOW, reason: ['p1'] });
});
