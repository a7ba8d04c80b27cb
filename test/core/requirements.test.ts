import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Requirements } from '../../src/core/policy.ts';
import {
  areRequirementsMet,
  type CountedVote,
  countFilledPlaces,
  countPlaces,
  fillsOpenPlace,
} from '../../src/core/requirements.ts';

const of = (votes: number, groups: string[] = []): Requirements => ({ votes, groups, signature: 'none' });
const vote = (approver: string, ...groups: string[]): CountedVote => ({ approver, groups });

test('one vote of anybody meets one vote', () => {
  expect(areRequirementsMet(of(1), [])).toBe(false);
  expect(areRequirementsMet(of(1), [vote('a')])).toBe(true);
});

test('each group needs a vote of its own, and a vote stands for one group only', () => {
  const both = of(2, ['finance', 'security']);
  expect(areRequirementsMet(both, [vote('a', 'finance', 'security')])).toBe(false);
  expect(areRequirementsMet(both, [vote('a', 'finance'), vote('b', 'finance')])).toBe(false);
  expect(areRequirementsMet(both, [vote('a', 'finance'), vote('b', 'security')])).toBe(true);
});

test('a member of both groups stands for the one that the other voter cannot', () => {
  const both = of(2, ['finance', 'security']);
  for (const other of ['finance', 'security']) {
    expect(areRequirementsMet(both, [vote('a', 'finance', 'security'), vote('b', other)])).toBe(true);
    expect(areRequirementsMet(both, [vote('b', other), vote('a', 'finance', 'security')])).toBe(true);
  }
});

test('a vote that fills no open place is told from one that does', () => {
  const both = of(2, ['finance', 'security']);
  expect(fillsOpenPlace(both, [], vote('a'))).toBe(false);
  expect(fillsOpenPlace(both, [vote('a', 'finance')], vote('b', 'finance'))).toBe(false);
  expect(fillsOpenPlace(both, [vote('a', 'finance')], vote('b', 'security'))).toBe(true);
  expect(fillsOpenPlace(of(3, ['finance']), [vote('a', 'finance'), vote('b')], vote('c'))).toBe(true);
});

test('fewer votes than groups asked for never lowers the number of places', () => {
  expect(countPlaces(of(1, ['finance', 'security']))).toBe(2);
});

/** The number of places filled, by trying every assignment. */
function countByTrying(requirements: Requirements, votes: CountedVote[]): number {
  const [first, ...rest] = votes;
  if (first === undefined) return 0;
  const open = requirements.votes - requirements.groups.length;
  const without = (group: string): Requirements => ({
    ...requirements,
    votes: requirements.votes - 1,
    groups: requirements.groups.filter((other) => other !== group),
  });
  const choices = [countByTrying(requirements, rest)];
  if (open > 0) choices.push(1 + countByTrying({ ...requirements, votes: requirements.votes - 1 }, rest));
  for (const group of requirements.groups) {
    if (first.groups.includes(group)) choices.push(1 + countByTrying(without(group), rest));
  }
  return Math.max(...choices);
}

test('the best assignment of votes to places is the one that counts', () => {
  const groups = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 });
  const votes = fc.array(groups, { maxLength: 5 });
  fc.assert(
    fc.property(groups, fc.integer({ min: 0, max: 2 }), votes, (required, more, cast) => {
      const requirements = of(Math.max(required.length + more, 1), required);
      const counted = cast.map((memberOf, index) => vote(String(index), ...memberOf));
      expect(countFilledPlaces(requirements, counted)).toBe(countByTrying(requirements, counted));
    }),
  );
});
