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

/**
 * The calls examined last, by their text: the view of an approval is made of the canonical bytes, which are read anew,
 * right after what they were made from was decided. Longer ones would take too much memory.
 */
const recent = new Map<string, ExaminedCommand>();
const RECENT_MAX = 16;
const RECENT_LENGTH_MAX = 4096;

/** Examines the command that a call's parameters state. A pure function of them, which remembers its last answers. */
export function examineCommand(parameters: JsonObject, names: CommandParameters): ExaminedCommand {
  const known = examined.get(parameters);
  if (known !== undefined) return known;
  const call = readCommandCall(parameters, names);
  const text = JSON.stringify(call);
  const command = recent.get(text) ?? examineAnew(call, text);
  examined.set(parameters, command);
  return command;
}

function examineAnew(call: CommandCall, text: string): ExaminedCommand {
  const analysis = analyseCommand(call);
  const command = { call, analysis, floor: findFloor(call, analysis) };
  if (text.length > RECENT_LENGTH_MAX) return command;
  if (recent.size >= RECENT_MAX) recent.clear();
  recent.set(text, command);
  return command;
}
