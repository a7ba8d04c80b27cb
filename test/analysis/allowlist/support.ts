import { judgeAllowlist } from '../../../src/analysis/allowlist/judge_allowlist.ts';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { listExecutables } from '../../../src/analysis/command/analysis.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';

/** A call of a command; what is not said of it is not stated. */
export function callOf(command: string, more: Partial<CommandCall> = {}): CommandCall {
  return { command, argv: null, cwd: null, env: {}, resolvedPaths: null, fileDigests: {}, ...more };
}

/** The same with a path for each executable, as a host resolves it that has them all in one folder. */
export function resolvedCallOf(
  command: string,
  folder = '/usr/bin',
  more: Partial<CommandCall> = {},
): CommandCall {
  const call = callOf(command, more);
  const resolvedPaths = listExecutables(analyseCommand(call)).map(({ value }) =>
    value?.startsWith('/') ? value : `${folder}/${value ?? ''}`,
  );
  return { ...call, resolvedPaths };
}

/** Judges a call against a list of patterns. */
export function judge(call: CommandCall, patterns: readonly string[]) {
  const entries = patterns.map((pattern) => ({ id: `of ${pattern}`, pattern }));
  return judgeAllowlist(call, analyseCommand(call), entries);
}

/** The least time of the processor that a piece of work takes in five runs, in milliseconds. */
export function cpuMs(work: () => void): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
