import type { CommandAnalysis, CommandLanguage, CommandProblem, Construct, Segment } from '../analysis.ts';

/** What reading a text has found so far. */
export interface Findings {
  segments: Segment[];
  problems: CommandProblem[];
  constructs: Set<Construct>;
}

/** Problems beyond these say nothing that the first ones do not; a text of 256 KiB could have as many. */
const PROBLEMS_MAX = 32;

export function beginFindings(): Findings {
  return { segments: [], problems: [], constructs: new Set() };
}

/** Notes a problem once. */
export function addProblem({ problems }: Findings, code: CommandProblem['code'], text: string): void {
  if (problems.length >= PROBLEMS_MAX) return;
  if (!problems.some((problem) => problem.code === code && problem.text === text)) {
    problems.push({ code, text });
  }
}

export function makeSegment(
  language: CommandLanguage,
  parts: Pick<Segment, 'text' | 'words' | 'operator'> & Partial<Segment>,
): Segment {
  return { language, assignments: [], redirections: [], inner: [], understood: true, ...parts };
}

export function toAnalysis(
  language: CommandLanguage,
  { segments, problems, constructs }: Findings,
): CommandAnalysis {
  return { language, understood: problems.length === 0, problems, segments, constructs: [...constructs] };
}
