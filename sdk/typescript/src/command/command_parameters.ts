import type { CommandCall } from '../../../../src/core/command_call.ts';
import { quoteArgv } from '../../../../src/core/quote_argv.ts';
import { type Environment, environmentProblem } from './environment.ts';

/** A command as it is asked for and shown: the parameters of the action. */
export interface CommandParameters {
  /** The shell text that runs, or with `argv` its quoted form, which then is only shown. */
  command: string;
  argv?: string[];
  /** Absolute. */
  cwd: string;
  /** What is set beside what commands inherit. */
  env?: Record<string, string>;
  resolved_paths?: string[];
  file_digests?: Record<string, string>;
}

const MEMBERS: ReadonlySet<string> = new Set([
  'command',
  'argv',
  'cwd',
  'env',
  'resolved_paths',
  'file_digests',
]);

/** The command of an action as it was approved, or why it is none that could be run as it was shown. */
export function readParameters(
  value: object,
  allowedEnv: ReadonlySet<string>,
): { parameters: CommandParameters } | { problem: string } {
  const unknown = Object.keys(value).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) {
    return { problem: `\`${unknown}\` is no parameter that is known here` };
  }
  const parameters = value as CommandParameters;
  const problem = shapeProblem(parameters) ?? envProblem(parameters.env ?? {}, allowedEnv);
  return problem === undefined ? { parameters } : { problem };
}

function shapeProblem(given: CommandParameters): string | undefined {
  const { command, argv, cwd, env, resolved_paths, file_digests } = given;
  if (!isText(command) || command.includes('\0')) {
    return '`command` is not a text without nul characters';
  }
  if (!isText(cwd) || !cwd.startsWith('/') || cwd.includes('\0')) {
    return '`cwd` is not an absolute path';
  }
  if (
    argv !== undefined &&
    (!isTexts(argv) || argv.length === 0 || argv.some((word) => word.includes('\0')))
  ) {
    return '`argv` is not a list of words without nul characters';
  }
  if (argv !== undefined && command !== quoteArgv(argv)) {
    return '`command` is not the quoted form of `argv`';
  }
  if (argv === undefined && command.trim() === '') {
    return '`command` is empty';
  }
  if (resolved_paths !== undefined && !isTexts(resolved_paths)) {
    return '`resolved_paths` is not a list of texts';
  }
  if ((env !== undefined && !isTextMap(env)) || (file_digests !== undefined && !isTextMap(file_digests))) {
    return '`env` or `file_digests` is not an object of texts';
  }
  return undefined;
}

function envProblem(env: Environment, allowed: ReadonlySet<string>): string | undefined {
  return Object.entries(env)
    .map(([name, value]) => environmentProblem(name, value, allowed))
    .find((problem) => problem !== undefined);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): value is Record<string, string> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isText)
  );
}

/** The command in the form that it is analysed in. */
export function toCall({
  command,
  argv,
  cwd,
  env,
  resolved_paths,
  file_digests,
}: CommandParameters): CommandCall & { cwd: string } {
  return {
    command,
    argv: argv ?? null,
    cwd,
    env: env ?? {},
    resolvedPaths: resolved_paths ?? null,
    fileDigests: file_digests ?? {},
  };
}
