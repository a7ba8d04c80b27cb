import type { CommandCall } from '../../core/command_call.ts';
import type { CommandAnalysis } from '../command/analysis.ts';
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
  const hits = new Map<string, FloorHit>();
  for (const hit of [...findPosixFloor(call, analysis), ...findWindowsFloor(call, analysis)]) {
    const key = `${hit.rule}\n${hit.text}`;
    if (!hits.has(key)) hits.set(key, hit);
  }
  return [...hits.values()];
}
