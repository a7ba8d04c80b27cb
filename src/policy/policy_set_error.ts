import type { RulesProblem } from '../core/rules.ts';

/** One thing that is wrong with a policy set, where it stands, and what would mend it. */
export type PolicySetProblem = RulesProblem;

/** More problems than these nobody reads at once. */
export const PROBLEMS_MAX = 100;

/** Thrown when a policy set is refused at load. It names every problem found; the set in force stays as it is. */
export class PolicySetError extends Error {
  readonly problems: readonly PolicySetProblem[];

  constructor(problems: readonly PolicySetProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.name = 'PolicySetError';
    this.problems = problems;
  }
}

/** A problem without a place, to be completed by whoever knows one. */
export function problem(
  message: string,
  help: string | null,
  place: Partial<PolicySetProblem> = {},
): PolicySetProblem {
  return { policyId: null, source: null, line: null, column: null, pointer: null, ...place, message, help };
}

/** So many problems as anybody would read, and whether there are more. */
export function limitProblems(problems: readonly PolicySetProblem[]): PolicySetProblem[] {
  if (problems.length <= PROBLEMS_MAX) return [...problems];
  const rest = problem('there are more problems than these', 'Correct these first, and check again.');
  return [...problems.slice(0, PROBLEMS_MAX), rest];
}

/** A problem as one line: place, policy, what is wrong, remedy. */
export function formatProblem(found: PolicySetProblem): string {
  const place = [found.source, found.line, found.column].filter((part) => part !== null).join(':');
  const policy = found.policyId === null ? '' : `policy \`${found.policyId}\`: `;
  const help = found.help === null ? '' : `. ${found.help}`;
  return `${place === '' ? '' : `${place}: `}${policy}${found.message}${help}`;
}
