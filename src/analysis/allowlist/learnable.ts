import type { CommandCall } from '../../core/command_call.ts';
import { type CommandAnalysis, listExecutables } from '../command/analysis.ts';
import { isInterpreter, isMultiplexer, isShell, isWrapper } from '../command/command_kinds.ts';
import { commandName } from '../command/command_name.ts';
import { judgeAllowlist } from './judge_allowlist.ts';
import { isNeverLearned } from './never_learned.ts';

export type Learnable = { kind: 'entries'; patterns: string[] } | { kind: 'refused'; reason: string };

/** What each kind of command would run is not in its name: an entry for one would allow anything. */
const KINDS: readonly [(name: string) => boolean, string][] = [
  [isShell, 'a shell'],
  [isInterpreter, 'an interpreter, or takes commands of others'],
  [isWrapper, 'a wrapper of other commands'],
  [isMultiplexer, 'a program of many commands'],
  [isNeverLearned, 'a program that runs what its arguments or files say'],
];

/**
 * The patterns that would let this very command run from now on: its resolved paths, each once. Refused when one of
 * its executables runs what its arguments say, and when no allowlist could ever cover the command.
 */
export function learnEntries(call: CommandCall, analysis: CommandAnalysis): Learnable {
  const paths = [...new Set(call.resolvedPaths)];
  const named = [...listExecutables(analysis).map(({ value }) => value ?? ''), ...paths];
  for (const name of named.map(commandName)) {
    const kind = KINDS.find(([isKind]) => isKind(name));
    if (kind === undefined) continue;
    return refuse(`\`${name}\` is ${kind[1]}: what it would run is not in its name`);
  }
  const verdict = judgeAllowlist(
    call,
    analysis,
    paths.map((pattern) => ({ id: pattern, pattern })),
  );
  if (!verdict.matched) return refuse(verdict.misses.map(({ text }) => text).join('; '));
  const wild = paths.find((path) => /[*?]/.test(path));
  if (wild !== undefined) return refuse(`a pattern reads characters of \`${wild}\` as wildcards`);
  return { kind: 'entries', patterns: paths };
}

function refuse(reason: string): Learnable {
  return { kind: 'refused', reason };
}
