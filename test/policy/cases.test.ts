import { beforeAll, describe, expect, test } from 'vitest';
import type { PolicySet } from '../../src/core/policy.ts';
import { openCaseSet } from '../../src/policy/case_set.ts';
import { findUncovered, runApproverCase, runCallCase } from '../../src/policy/cases.ts';
import { readPolicyFolder } from '../../src/policy/load.ts';
import { loadCases } from '../../src/policy/load_cases.ts';
import { loadPolicySet } from './policy_sets.ts';
import { POLICY_DIRECTORY, starterPolicies } from './support.ts';

const files = await loadCases(POLICY_DIRECTORY);
const reading = await readPolicyFolder(POLICY_DIRECTORY);
const whole = await loadPolicySet(POLICY_DIRECTORY);

describe.each(files)('every case of $source is decided as it says', (file) => {
  let set: PolicySet;

  beforeAll(() => {
    if (reading.kind === 'refused') throw new TypeError('the policy folder cannot be read');
    set = openCaseSet(whole, reading.base, file);
  });

  test.each([...file.cases])('$name', (one) => {
    expect(runCallCase(set, one)).toMatchObject({ passed: true, reason: expect.stringMatching(/\S/) });
  });

  test.each([...file.approverCases])('$name', (one) => {
    expect(runApproverCase(set, one)).toMatchObject({ passed: true });
  });
});

test('every policy has a case that it decides and a twin that it does not', () => {
  const ids = starterPolicies().map((policy) => policy.id);

  expect(findUncovered(ids, files)).toEqual({ undecided: [], untwinned: [] });
});
