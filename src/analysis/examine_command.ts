import { type CommandCall, type CommandParameters, readCommandCall } from '../core/command_call.ts';
import type { JsonObject } from '../core/json.ts';
import { remember } from '../core/remember.ts';
import { analyseCommand } from './command/analyse_command.ts';
import type { CommandAnalysis } from './command/analysis.ts';
import { findFloor } from './floor/find_floor.ts';
import type { FloorHit } from './floor/floor.ts';

/** A command, taken apart and held against the floor. */
export interface ExaminedCommand {
  call: CommandCall;
  analysis: CommandAnalysis;
  floor: FloorHit[];
}

/** What was examined already: one call is asked about several times, and its parameters are never changed. */
const examined = new WeakMap<JsonObject, ExaminedCommand>();

/**
 * The calls examined last are known by their text, too: the view of an approval is made of the canonical bytes, which
 * are read anew, right after what they were made from was decided. Longer ones would take too much memory.
 */
const examine = remember(
  (call: CommandCall): ExaminedCommand => {
    const analysis = analyseCommand(call);
    return { call, analysis, floor: findFloor(call, analysis) };
  },
  (call) => JSON.stringify(call),
  { entries: 16, length: 4096 },
);

/** Examines the command that a call's parameters state. A pure function of them, which remembers its last answers. */
export function examineCommand(parameters: JsonObject, names: CommandParameters): ExaminedCommand {
  const known = examined.get(parameters);
  if (known !== undefined) return known;
  const command = examine(readCommandCall(parameters, names));
  examined.set(parameters, command);
  return command;
}
