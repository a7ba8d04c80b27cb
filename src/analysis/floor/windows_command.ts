import type { Segment } from '../command/analysis.ts';
import type { FloorRule } from './floor.ts';
import type { WindowsScope } from './windows_values.ts';

/** A command as Windows would run it. A word that may stand for several things gives an argument for each. */
export interface WindowsCommand {
  /** The last component of the executable, lower case, without `.exe`. */
  name: string;
  args: readonly string[];
  segment: Segment;
  scope: WindowsScope;
  /** What lists files before it, and so may hand it what to work on. */
  lister: WindowsCommand | null;
  /** Whether something between the two lets only some of the files through. */
  isFiltered: boolean;
}

/** What a command breaks; null when it breaks nothing. */
export type WindowsRule = (command: WindowsCommand) => FloorRule | null;

/** PowerShell takes these for the dash of a parameter, and the slash for that of its own arguments. */
const DASH = /^[-\u2013\u2014\u2015]/;

export interface Parameter {
  /** Lower case, without the dash. */
  name: string;
  /** What follows a colon; null without one. */
  value: string | null;
}

/** A PowerShell parameter; null for any other word. */
export function readParameter(arg: string): Parameter | null {
  if (!DASH.test(arg) || arg.length < 2) return null;
  const colon = arg.indexOf(':');
  return colon === -1
    ? { name: arg.slice(1).toLowerCase(), value: null }
    : { name: arg.slice(1, colon).toLowerCase(), value: arg.slice(colon + 1) };
}

/** Whether a parameter is this one, or what it may be abbreviated to. */
export function isParameter(name: string, full: string, shortest: number): boolean {
  return name.length >= shortest && full.startsWith(name);
}
