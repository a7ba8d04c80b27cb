import type { CommandCall } from '../../core/command_call.ts';
import { type CommandAnalysis, listSegments } from '../command/analysis.ts';
import type { FloorHit } from './floor.ts';
import { findPosixFloor } from './posix_floor.ts';
import { findWindowsFloor } from './windows_floor.ts';

/**
 * What a command would do that destroys a machine, and which rule it breaks: nothing that a person could approve. It
 * looks at every command that the analysis found, judged by the working directory and environment that the call
 * states, and into what the analysis could not follow as deep as the text goes. Pure and total; its time is linear in
 * the length of the command. An empty list means that no rule is broken as far as text can tell, not that the command
 * is harmless.
 */
export function findFloor(call: CommandCall, analysis: CommandAnalysis): FloorHit[] {
  const known = listPosixDeletions(analysis);
  const onWindows = findWindowsFloor(call, analysis).filter(
    ({ rule, text }) => !(rule.startsWith('recursive-delete') && known.has(text)),
  );
  return [...findPosixFloor(call, analysis), ...onWindows];
}

/**
 * `rm` in a shell, with nothing in its words that only Windows has: what it deletes is for the rules of POSIX alone,
 * which know its loops, functions and parameters.
 */
function listPosixDeletions(analysis: CommandAnalysis): Set<string> {
  const segments = listSegments(analysis.segments).filter(
    ({ language, words, text }) =>
      language === 'posix' && words[0]?.value?.endsWith('rm') === true && !/\\|%|\$env:|:\//i.test(text),
  );
  return new Set(segments.map(({ text }) => text));
}
