import { formatPointer } from '../core/json_rules.ts';
import type { PolicySet } from '../core/policy.ts';
import type { BaseRules } from '../core/rules.ts';
import { openCaseSet } from './case_set.ts';
import { type CaseResult, findUnknownPolicies, runApproverCase, runCallCase } from './cases.ts';
import { formatOutcome } from './format_outcome.ts';
import type { LoadedCases } from './load_cases.ts';
import { PolicySetError, type PolicySetProblem, problem } from './policy_set_error.ts';

const HELP = 'Correct the policy or the case; `aegis policy test` runs them alone.';

/**
 * Runs the cases that stand beside a folder's policies against its set, as `aegis policy test` does: a problem for each
 * that comes out otherwise than it says, and for each policy that a file names and the set does not have. Whether every
 * policy has a case is not looked at. Problems name file and place.
 */
export function findFailingCases(
  set: PolicySet,
  base: BaseRules,
  files: readonly LoadedCases[],
): PolicySetProblem[] {
  return files.flatMap((file) => findFailingIn(set, base, file));
}

function findFailingIn(set: PolicySet, base: BaseRules, file: LoadedCases): PolicySetProblem[] {
  const { source } = file;
  let own: PolicySet;
  try {
    own = openCaseSet(set, base, file);
  } catch (error) {
    if (!(error instanceof PolicySetError)) throw error;
    return error.problems.map((found) => ({ ...found, source: found.source ?? source }));
  }
  const place = (list: string, index: number) => ({ source, pointer: formatPointer([list, index]) });
  return [
    ...file.cases.flatMap((one, index) => judge(runCallCase(own, one), place('cases', index))),
    ...file.approverCases.flatMap((one, index) =>
      judge(runApproverCase(own, one), place('approver_cases', index)),
    ),
    ...findUnknownPolicies(Object.keys(base.policies), [file]).map((id) =>
      problem(`cases name the policy \`${id}\`, which is not there`, HELP, { source }),
    ),
  ];
}

function judge(result: CaseResult, place: { source: string; pointer: string }): PolicySetProblem[] {
  if (result.passed) return [];
  const [expected, actual] = [describe(result.expected), describe(result.actual)];
  // A twin may come out as expected, and by the very policy that must not decide it.
  const differences = expected === actual ? [] : [`expected ${expected}, and it came out as ${actual}`];
  return [problem(`case \`${result.name}\`: ${[...differences, ...result.faults].join('; ')}`, HELP, place)];
}

function describe(result: CaseResult['expected']): string {
  return typeof result === 'string' ? result : formatOutcome(result);
}
