import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import { findFloor } from '../../../src/analysis/floor/find_floor.ts';
import type { FloorHit } from '../../../src/analysis/floor/floor.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';
import type { Case } from './commands.ts';

/** What a command breaks, taken apart by the analysis that is in use. */
export function hitsOf({ command, cwd, env }: Case): FloorHit[] {
  const call: CommandCall = {
    command,
    argv: null,
    cwd: cwd ?? null,
    env: env ?? {},
    resolvedPaths: null,
    fileDigests: {},
  };
  return findFloor(call, analyseCommand(call));
}

export function breaksFloor(one: Case): boolean {
  return hitsOf(one).length > 0;
}
