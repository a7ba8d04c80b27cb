import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { evaluate } from '../../src/policy/cedar.ts';
import { evaluateSlice } from '../../src/policy/evaluate_slice.ts';
import { OpenParts, PARTS_OF_THREAD } from '../../src/policy/open_parts.ts';
import { OpenSlices } from '../../src/policy/open_slices.ts';
import { packPolicies } from '../../src/policy/packed_policies.ts';
import { PreparedPool } from '../../src/policy/prepared_pool.ts';
import type { Slice, SliceTarget } from '../../src/policy/slices.ts';
import { loadPolicy } from './support.ts';

const TARGETS: SliceTarget[] = [
  { sliceId: 'pay', actionId: 'pay', groups: ['write'], hasCommand: false },
  { sliceId: 'look', actionId: 'look', groups: ['read'], hasCommand: false },
];
const PERMIT_PAY = 'permit (principal, action == Aegis::Action::"pay", resource);';
const FORBID_PAY = 'forbid (principal, action == Aegis::Action::"pay", resource);';
const PERMIT_LOOK = 'permit (principal, action in Aegis::Action::"read", resource);';

function open(policies: Record<string, string>, parts = PARTS_OF_THREAD): OpenSlices {
  const loaded = Object.entries(policies).map(([id, text]) => loadPolicy(id, text));
  return new OpenSlices(packPolicies(loaded, TARGETS), parts);
}

function countPreparedSlices(): number {
  return PARTS_OF_THREAD.held.sets;
}

/** The name of a slice's first part, which holds the policies for all. */
function nameOf({ parts: [shared] }: Slice): string {
  if (shared === undefined) throw new TypeError('the slice has no parts');
  return shared.preparedName;
}

/** Ids of the policies in each part. */
function idsOf({ parts }: Slice): string[][] {
  return parts.map(({ policies }) => [...policies.keys()]);
}

function ask(preparedName: string, principal = 'a') {
  return evaluate(preparedName, callOf(principal));
}

function askSlice(slices: OpenSlices, principal: string) {
  return evaluateSlice(slices.get('pay', principal), () => callOf(principal));
}

function callOf(principal: string) {
  const entity = (type: string, id: string) => ({ type: `Aegis::${type}`, id });
  return {
    principal: entity('Agent', principal),
    action: entity('Action', 'pay'),
    resource: entity('Resource', ''),
    context: {},
    entities: [],
  };
}

const ALLOWED = (...reason: string[]) => ({ kind: 'answered', decision: 'allow', reason });
const NOTHING = { kind: 'answered', decision: 'deny', reason: [] };

describe('slices', () => {
  test('are parsed when they are first consulted, and once', () => {
    const held = countPreparedSlices();
    const slices = open({ one: PERMIT_PAY, two: PERMIT_LOOK });
    expect(countPreparedSlices()).toBe(held);

    const preparedName = nameOf(slices.get('pay', 'a'));

    expect(ask(preparedName)).toEqual(ALLOWED('one'));
    expect(nameOf(slices.get('pay', 'a'))).toBe(preparedName);
    expect(countPreparedSlices()).toBe(held + 1);
    slices.dispose();
  });

  test('of two sets with equal policies are parsed once, and held until neither needs them', () => {
    const held = countPreparedSlices();
    const [one, other] = [open({ one: PERMIT_PAY }), open({ one: PERMIT_PAY, two: PERMIT_LOOK })];

    const preparedName = nameOf(one.get('pay', 'a'));
    expect(nameOf(other.get('pay', 'a'))).toBe(preparedName);
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

    expect(ask(nameOf(one.get('pay', 'a')))).toEqual(ALLOWED('one'));
    expect(ask(nameOf(other.get('pay', 'a')))).toEqual(ALLOWED('other'));
    one.dispose();
    other.dispose();
  });

  test('that were disposed of are never consulted, although their name serves others', () => {
    const dropped = open({ one: PERMIT_PAY });
    const preparedName = nameOf(dropped.get('pay', 'a'));
    dropped.dispose();
    const next = open({ one: FORBID_PAY });

    expect(nameOf(next.get('pay', 'a'))).toBe(preparedName);
    expect(ask(preparedName)).toEqual({ kind: 'answered', decision: 'deny', reason: ['one'] });
    expect(() => dropped.get('pay', 'a')).toThrow('disposed of');
    expect(() => dropped.get('look', 'a')).toThrow('disposed of');
    next.dispose();
  });

  test('that no action has are an error, not an empty set', () => {
    const slices = open({ one: PERMIT_PAY });

    expect(() => slices.get('drop', 'a')).toThrow('has no slice');
    slices.dispose();
  });
});

test('slices that nobody refers to any more are given back without being disposed of', async () => {
  const held = countPreparedSlices();
  (() => open({ one: PERMIT_PAY }).get('pay', 'a'))();
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

    expect(idsOf(slices.get('pay', 'a'))).toEqual([['all'], ['only-a']]);
    expect(idsOf(slices.get('pay', 'b'))).toEqual([['all'], ['only-b']]);
    expect(idsOf(slices.get('pay', 'c'))).toEqual([['all']]);
    expect(idsOf(slices.get('look', 'a'))).toEqual([]);
    slices.dispose();
  });

  test('decide for that principal only', () => {
    const slices = open({
      'only-a': own('a'),
      'never-b': own('b').replace('permit', 'forbid'),
      all: PERMIT_PAY,
    });

    expect(askSlice(slices, 'a')).toEqual(ALLOWED('all', 'only-a'));
    expect(askSlice(slices, 'b')).toEqual({ kind: 'answered', decision: 'deny', reason: ['never-b'] });
    expect(askSlice(slices, 'c')).toEqual(ALLOWED('all'));
    slices.dispose();
  });

  test('are all that is prepared for a principal that calls after another', () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`all-${index}`, `${PERMIT_PAY} // ${index}`]),
    );
    const parts = new OpenParts(new PreparedPool('test '), { prepared: 1_000, listed: 1_000 });
    const slices = open({ ...many, ...policies }, parts);
    const first = slices.get('pay', 'a');
    expect(parts.held).toEqual({ sets: 2, policies: 102 });

    const second = slices.get('pay', 'b');

    expect(parts.held).toEqual({ sets: 3, policies: 103 });
    expect(second.parts[0]).toBe(first.parts[0]);
    slices.get('pay', 'c');
    expect(parts.held).toEqual({ sets: 3, policies: 103 });
    slices.dispose();
    expect(parts.held).toEqual({ sets: 0, policies: 0 });
  });

  test('cost nothing where a slice has none', () => {
    const slices = open({ ...policies, look: PERMIT_LOOK });

    const preparedName = nameOf(slices.get('look', 'a'));

    expect(nameOf(slices.get('look', 'b'))).toBe(preparedName);
    slices.dispose();
  });
});

test('an integer beyond 2^53 is evaluated as it was written', () => {
  const text = `permit (principal, action == Aegis::Action::"pay", resource) when { 9007199254740993 == 9007199254740992 };`;
  const slices = open({ one: text });

  expect(ask(nameOf(slices.get('pay', 'a')))).toEqual(NOTHING);
  slices.dispose();
});

describe('parts of slices are closed when they are too many', () => {
  const own = (agent: string, effect = 'permit') =>
    `${effect} (principal == Aegis::Agent::"${agent}", action == Aegis::Action::"pay", resource);`;
  const agents = ['a', 'b', 'c', 'd'];
  const policies = { all: PERMIT_PAY, ...Object.fromEntries(agents.map((one) => [`only-${one}`, own(one)])) };

  test.each([
    ['policies prepared', { prepared: 3, listed: 1_000 }, { sets: 3, policies: 3 }],
    ['policies listed', { prepared: 1_000, listed: 4 }, { sets: 2, policies: 2 }],
  ])('by %s, and opened again when they are wanted', (_, limits, held) => {
    const parts = new OpenParts(new PreparedPool('test '), limits);
    const slices = open(policies, parts);

    for (const agent of [...agents, ...agents]) {
      expect(askSlice(slices, agent)).toEqual(ALLOWED('all', `only-${agent}`));
    }

    expect(parts.held).toEqual(held);
    slices.dispose();
  });

  test('over all sets of the thread', () => {
    const parts = new OpenParts(new PreparedPool('test '), { prepared: 1, listed: 1_000 });
    const [one, other] = [open({ one: PERMIT_PAY }, parts), open({ other: PERMIT_PAY }, parts)];

    for (let round = 0; round < 2; round += 1) {
      expect(askSlice(one, 'a')).toEqual(ALLOWED('one'));
      expect(askSlice(other, 'a')).toEqual(ALLOWED('other'));
    }

    expect(parts.held).toEqual({ sets: 1, policies: 1 });
    one.dispose();
    other.dispose();
    expect(parts.held).toEqual({ sets: 0, policies: 0 });
  });

  test('but never one of the call that is decided: a forbid for all holds where its part leaves no room', () => {
    const parts = new OpenParts(new PreparedPool('test '), { prepared: 0, listed: 0 });
    const slices = open({ never: FORBID_PAY, 'only-a': own('a'), 'never-b': own('b', 'forbid') }, parts);

    for (const [agent, reason] of [
      ['a', ['never']],
      ['b', ['never', 'never-b']],
      ['a', ['never']],
    ] as const) {
      expect(askSlice(slices, agent)).toEqual({ kind: 'answered', decision: 'deny', reason });
    }
    slices.dispose();
  });
});

test('what is known of a policy is held once, whichever slices list it', () => {
  const slices = open({ all: 'permit (principal, action, resource);', one: PERMIT_PAY });
  const [pay, look] = ['pay', 'look'].map((sliceId) => slices.get(sliceId, 'a').parts[0]);

  expect(pay).not.toBe(look);
  expect(pay?.policies.get('all')).toBe(look?.policies.get('all'));
  slices.dispose();
});
