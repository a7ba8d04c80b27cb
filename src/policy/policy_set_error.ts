/** One thing that is wrong with a policy set, where it stands, and what would mend it. */
export interface PolicySetProblem {
  /** The policy at fault, null when the fault is a tool's or the id is what is missing. */
  policyId: string | null;
  /** File the fault stands in, as named to the loader; null when the set did not come from files. */
  source: string | null;
  /** Counted from 1; null when not known. */
  line: number | null;
  column: number | null;
  message: string;
  /** The remedy, as a sentence. */
  help: string | null;
}

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
export function problem(message: string, help: string | null, place: Partial<PolicySetProblem> = {}) {
  return { policyId: null, source: null, line: null, column: null, ...place, message, help };
}

function formatProblem(found: PolicySetProblem): string {
  const place = [found.source, found.line, found.column].filter((part) => part !== null).join(':');
  const policy = found.policyId === null ? '' : `policy \`${found.policyId}\`: `;
  const help = found.help === null ? '' : `. ${found.help}`;
  return `${place === '' ? '' : `${place}: `}${policy}${found.message}${help}`;
}
