import { type CommandCall, type CommandParameters, readCommandCall } from '../core/command_call.ts';
import type { JsonObject } from '../core/json.ts';
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

/** Examines the command that a call's parameters state: once for each parameters object. */
export function examineCommand(parameters: JsonObject, names: CommandParameters): ExaminedCommand {
  const known = examined.get(parameters);
  if (known !== undefined) return known;
  const call = readCommandCall(parameters, names);
  const analysis = analyseCommand(call);
  const fresh = { call, analysis, floor: findFloor(call, analysis) };
  examined.set(parameters, fresh);
  return fresh;
}
