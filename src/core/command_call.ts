import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** Which parameters of a tool hold a command line and, when given, the argument vector that runs in its place. */
export interface CommandParameters {
  parameter: string;
  argvParameter: string | null;
}

/** A command as a call states it, with what the caller says of its host. All of it is part of the hash. */
export interface CommandCall {
  command: string;
  /** When given, this runs, and no shell does; `command` is then its quoted form. */
  argv: string[] | null;
  cwd: string | null;
  /** What is set for the command beside what its host has. */
  env: Record<string, string>;
  /** Absolute paths of the executables, one for each in the analyser's order; null when the call states none. */
  resolvedPaths: string[] | null;
  /** SHA-256 of script files that the command names, by their path as written or absolute. */
  fileDigests: Record<string, string>;
}

function toStrings(value: JsonValue | undefined): string[] | null {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? (value as string[]) : null;
}

function toStringMap(value: JsonValue | undefined): Record<string, string> {
  if (value === undefined || !isJsonObject(value)) return {};
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(texts);
}

/** An environment of any form: one that is no object of strings is not taken for none. */
function toEnvironment(value: JsonValue | undefined): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) return { env: JSON.stringify(value) };
  const toText = (member: JsonValue): string =>
    typeof member === 'string' ? member : JSON.stringify(member);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toText(member)]));
}

/**
 * The command that a call's parameters state. Beside the two that the registry names, parameters that are called
 * `cwd`, `env`, `resolved_paths` and `file_digests` are read, as `shell`/`exec` has them.
 */
export function readCommandCall(
  parameters: JsonObject,
  { parameter, argvParameter }: CommandParameters,
): CommandCall {
  const command = parameters[parameter];
  const { cwd } = parameters;
  return {
    command: typeof command === 'string' ? command : '',
    argv: argvParameter === null ? null : toStrings(parameters[argvParameter]),
    cwd: typeof cwd === 'string' ? cwd : null,
    env: toEnvironment(parameters.env),
    resolvedPaths: toStrings(parameters.resolved_paths),
    fileDigests: toStringMap(parameters.file_digests),
  };
}
