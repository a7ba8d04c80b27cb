import type { CommandAnalysis } from '../command/analysis.ts';

/** Whether the analysis did not open everything that runs another, since it is nested too deep. */
export function isCut({ problems }: Pick<CommandAnalysis, 'problems'>): boolean {
  return problems.some(({ code }) => code === 'too_deep');
}
