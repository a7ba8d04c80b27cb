import { readFileSync } from 'node:fs';
import {
  type CommandAnalysis,
  listSegments,
  type Segment,
} from '../../../../src/analysis/command/analysis.ts';
import { Problems } from '../../../../src/analysis/command/problems.ts';
import { textsAllowed, unwrapSegments } from '../../../../src/analysis/command/unwrap/unwrap.ts';
import { parseCmd } from '../../../../src/analysis/command/windows/parse_cmd.ts';
import { parsePowerShell } from '../../../../src/analysis/command/windows/parse_powershell.ts';

/** The cases of a file of shell vectors. */
export function readVectors<Content>(name: string): Content {
  return JSON.parse(
    readFileSync(new URL(`../../../vectors/shell/${name}`, import.meta.url), 'utf8'),
  ) as Content;
}

/** The values of each segment's words, `null` for one that is not known. */
export function words({ segments }: Pick<CommandAnalysis, 'segments'>): (string | null)[][] {
  return segments.map((segment) => segment.words.map(({ value }) => value));
}

export function codes({ problems }: CommandAnalysis): string[] {
  return problems.map(({ code }) => code);
}

/** Commands that a text of Windows runs, wrappers opened, as either shell reads it. */
export function readings(text: string): { analysis: CommandAnalysis; innermost: Segment[] }[] {
  return [parseCmd, parsePowerShell].map((parse) => {
    const flat = parse(text);
    const problems = new Problems();
    problems.addAll(flat.problems);
    const constructs = new Set(flat.constructs);
    const unwrapping = {
      analyse: (inner: string, language: string) => (language === 'cmd' ? parseCmd : parsePowerShell)(inner),
      problems,
      constructs,
      left: textsAllowed(text.length),
    };
    const segments = unwrapSegments(unwrapping, flat.segments);
    const innermost = listSegments(segments).filter(({ inner }) => inner.length === 0);
    const understood = problems.list.length === 0 && innermost.every((segment) => segment.understood);
    return {
      analysis: { ...flat, segments, understood, problems: problems.list, constructs: [...constructs] },
      innermost,
    };
  });
}

/** The least processor time of two runs, in milliseconds. */
export function leastTime(run: () => unknown): number {
  const times = Array.from({ length: 2 }, () => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
