import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { readPolicyFacts } from '../../src/policy/annotations.ts';
import { evaluate, parsePolicy } from '../../src/policy/cedar.ts';
import { countPreparedSlices, OpenSlices } from '../../src/policy/open_slices.ts';
import { packPolicies } from '../../src/policy/packed_policies.ts';
import type { LoadedPolicy, SliceTarget } from '../../src/policy/slices.ts';

const TARGETS: SliceTarget[] = [
  { sliceId: 'pay', actionId: 'pay', groups: ['write'] },
  { sliceId: 'look', actionId: 'look', groups: ['read'] },
];
const PERMIT_PAY = 'permit (principal, action == Aegis::Action::"pay", resource);';
const FORBID_PAY = 'forbid (principal, action == Aegis::Action::"pay", resource);';
const PERMIT_LOOK = 'permit (principal, action in Aegis::Action::"read", resource);';

function load(id: string, text: string): LoadedPolicy {
  const parsed = parsePolicy(text);
  if (parsed.kind === 'faults') throw new TypeError(`\`${text}\` does not parse`);
  return { facts: readPolicyFacts(id, parsed.value), text, json: parsed.value };
}

function open(policies: Record<string, string>): OpenSlices {
  const loaded = Object.entries(policies).map(([id, text]) => load(id, text));
  return new OpenSlices(packPolicies(loaded, TARGETS));
}

function ask(preparedName: string, principal = 'a') {
  const entity = (type: string, id: string) => ({ type: `Aegis::${type}`, id });
  const call = {
    principal: entity('Agent', principal),
    action: entity('Action', 'pay'),
    resource: entity('Resource', ''),
    context: {},
    entities: [],
  };
  return evaluate(preparedName, call);
}

const ALLOWED = (...reason: string[]) => ({ kind: 'answered', decision: 'allow', reason });
const NOTHING = { kind: 'answered', decision: 'deny', reason: [] };

describe('slices', () => {
  test('are parsed when they are first consulted, and once', () => {
    const held = countPreparedSlices();
    const slices = open({ one: PERMIT_PAY, two: PERMIT_LOOK });
    expect(countPreparedSlices()).toBe(held);

    const { preparedName } = slices.get('pay');

    expect(ask(preparedName)).toEqual(ALLOWED('one'));
    expect(slices.get('pay').preparedName).toBe(preparedName);
    expect(countPreparedSlices()).toBe(held + 1);
    slices.dispose();
  });

  test('of two sets with equal policies are parsed once, and held until neither needs them', () => {
    const held = countPreparedSlices();
    const [one, other] = [open({ one: PERMIT_PAY }), open({ one: PERMIT_PAY, two: PERMIT_LOOK })];

    const { preparedName } = one.get('pay');
    expect(other.get('pay').preparedName).toBe(preparedName);
    expect(countPreparedSlices()).toBe(held + 1);

    one.dispose();
    one.dispose();
    expect(ask(preparedName)).toEqual(ALLOWED('one'));
    other.dispose();
    expect(ask(preparedName)).toEqual(NOTHING);
    expect(countPreparedSlices()).toBe(held);
  });

  test('with equal texts under different ids are not taken for each other', () => {
    const [one, other] = [open({ one: PERMIT_PAY }), open({ other: PERMIT_PAY })];

    expect(ask(one.get('pay').preparedName)).toEqual(ALLOWED('one'));
    expect(ask(other.get('pay').preparedName)).toEqual(ALLOWED('other'));
    one.dispose();
    other.dispose();
  });

  test('that were disposed of are never consulted, although their name serves others', () => {
    const dropped = open({ one: PERMIT_PAY });
    const { preparedName } = dropped.get('pay');
    dropped.dispose();
    const next = open({ one: FORBID_PAY });

    expect(next.get('pay').preparedName).toBe(preparedName);
    expect(ask(preparedName)).toEqual({ kind: 'answered', decision: 'deny', reason: ['one'] });
    expect(() => dropped.get('pay')).toThrow('disposed of');
    expect(() => dropped.get('look')).toThrow('disposed of');
    next.dispose();
  });

  test('that no action has are an error, not an empty set', () => {
    const slices = open({ one: PERMIT_PAY });

    expect(() => slices.get('drop')).toThrow('has no slice');
    slices.dispose();
  });
});

test('slices that nobody refers to any more are given back without being disposed of', async () => {
  const held = countPreparedSlices();
  (() => open({ one: PERMIT_PAY }).get('pay'))();
  expect(countPreparedSlices()).toBe(held + 1);

  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;

  await vi.waitFor(() => {
    collectGarbage();
    expect(countPreparedSlices()).toBe(held);
  });
});

describe('policies for one principal', () => {
  const own = (agent: string) =>
    `permit (principal == Aegis::Agent::"${agent}", action == Aegis::Action::"pay", resource);`;
  const policies = { all: PERMIT_PAY, 'only-a': own('a'), 'only-b': own('b') };

  test('are in the slice of that principal only, beside those for all', () => {
    const slices = open(policies);

    expect([...slices.get('pay', 'a').policies.keys()]).toEqual(['all', 'only-a']);
    expect([...slices.get('pay', 'b').policies.keys()]).toEqual(['all', 'only-b']);
    expect([...slices.get('pay', 'c').policies.keys()]).toEqual(['all']);
    expect([...slices.get('pay').policies.keys()]).toEqual(['all', 'only-a', 'only-b']);
    slices.dispose();
  });

  test('decide as they do in the slice of all', () => {
    const slices = open(policies);

    for (const agent of ['a', 'b', 'c']) {
      const whole = ask(slices.get('pay').preparedName, agent);
      expect(ask(slices.get('pay', agent).preparedName, agent)).toEqual(whole);
    }
    slices.dispose();
  });

  test('cost nothing where a slice has none', () => {
    const slices = open({ ...policies, look: PERMIT_LOOK });

    const { preparedName } = slices.get('look', 'a');

    expect(slices.get('look', 'b').preparedName).toBe(preparedName);
    slices.dispose();
  });
});

test('an integer beyond 2^53 is evaluated as it was written', () => {
  const text = `permit (principal, action == Aegis::Action::"pay", resource) when { 9007199254740993 == 9007199254740992 };`;
  const slices = open({ one: text });

  expect(ask(slices.get('pay').preparedName)).toEqual(NOTHING);
  slices.dispose();
});
