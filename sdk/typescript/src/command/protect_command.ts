import { stat } from 'node:fs/promises';
import { quoteArgv } from '../../../../src/core/quote_argv.ts';
import { type Aegis, AegisError, type CallOptions, type DefaultOptions, type Guarded } from '../index.ts';
import type { CommandResult } from './command_output.ts';
import { type CommandParameters, readParameters, toCall } from './command_parameters.ts';
import { type CommandSettings, type CommandSpec, readSettings } from './command_settings.ts';
import { commandEnvironment, type Environment } from './environment.ts';
import { absolutePath } from './find_executable.ts';
import { type HostState, surveyHost } from './host_state.ts';
import { runCommand } from './run_command.ts';

/** A command: words that run without a shell, or a text that `/bin/sh` runs. */
export type CommandInput = (
  | { argv: readonly string[]; command?: undefined }
  | { command: string; argv?: undefined }
) & {
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
};

/** Runs a command once it is decided that it may run, and as it was decided. */
export interface GuardedCommand {
  (input: CommandInput, options?: CallOptions): Promise<CommandResult>;
  /** Takes up a call that ended in a `PendingError`, in any process on the same host. */
  resume: Guarded<CommandParameters, CommandResult>['resume'];
}

/**
 * A function that asks before it runs a command on this host, and runs it exactly as it was decided: the argument
 * vector or shell text, the folder, the environment, the executables and script files that were shown. Beside what a
 * guarded function throws, it throws an `AegisError` with `invalid_request` for a command that cannot run here and
 * with `integrity` when the host changed since: then nothing ran. Throws a `TypeError` on a spec that cannot be used,
 * and on Windows, which starts processes from one text that each program takes apart by itself.
 */
export function protectCommand(
  aegis: Aegis,
  spec: CommandSpec = {},
  options: DefaultOptions = {},
): GuardedCommand {
  if (process.platform === 'win32') {
    throw new TypeError(
      'commands are not guarded on windows. Run the agent under wsl or another posix system',
    );
  }
  const settings = readSettings(spec);
  const { tool = 'shell', action = 'exec', resource, cwd: ownCwd } = spec;
  // Copies: later changes of the caller's objects do not reach a call.
  const context = structuredClone(spec.context);
  const ownEnv = { ...spec.env };
  const defaults = { ...options };
  const guard = (before: HostState | null): Guarded<CommandParameters, CommandResult> =>
    aegis.protect(
      { tool, action, resource, context, mutatesState: true },
      (parameters: CommandParameters, run) => runCommand({ aegis, settings, before, parameters, run }),
      defaults,
    );
  const run = async (input: CommandInput, callOptions?: CallOptions): Promise<CommandResult> => {
    const wanted = copyInput(input, ownCwd, ownEnv);
    const given = { ...callOptions, context: structuredClone(callOptions?.context) };
    given.signal?.throwIfAborted();
    // From the first await on the caller's objects are not looked at again.
    const { parameters, before } = await prepare(wanted, settings);
    return guard(before)(parameters, given);
  };
  return Object.assign(run, { resume: guard(null).resume });
}

/** The caller's command with the spec's folder and environment, as parameters without what the host says of them. */
function copyInput(input: CommandInput, cwd: string | undefined, env: Environment): CommandParameters {
  const { argv, command } = input;
  if ((argv === undefined) === (command === undefined)) {
    throw new TypeError('a command is either `argv` or `command`, and not both');
  }
  if (argv !== undefined && !(Array.isArray(argv) && argv.every((word) => typeof word === 'string'))) {
    throw new TypeError('`argv` is not a list of texts');
  }
  const words = argv === undefined ? undefined : [...argv];
  const folder = within(within(process.cwd(), cwd ?? '.'), input.cwd ?? '.');
  const all = { ...env, ...input.env };
  return {
    command: words === undefined ? (command ?? '') : quoteArgv(words),
    ...(words === undefined ? {} : { argv: words }),
    cwd: folder,
    ...(Object.keys(all).length === 0 ? {} : { env: all }),
  };
}

function within(folder: string, name: string): string {
  return name.startsWith('/') ? name : `${folder}/${name}`;
}

/** Adds what the host says of a command. Throws an `AegisError` for one that could not run here anyway. */
async function prepare(
  wanted: CommandParameters,
  { inherited, allowedEnv }: CommandSettings,
): Promise<{ parameters: CommandParameters; before: HostState }> {
  const read = readParameters(wanted, allowedEnv);
  if ('problem' in read) {
    throw new TypeError(read.problem);
  }
  const cwd = await findFolder(wanted.cwd);
  const { PATH = '' } = commandEnvironment(inherited, wanted.env ?? {});
  const before = await surveyHost(toCall({ ...wanted, cwd }), PATH);
  if (before.executable === undefined) {
    throw cannotRun(`\`${wanted.argv?.[0] ?? ''}\` is no executable of this host`);
  }
  const { resolvedPaths, fileDigests } = before;
  const parameters: CommandParameters = {
    ...wanted,
    cwd,
    ...(resolvedPaths === undefined ? {} : { resolved_paths: resolvedPaths }),
    ...(Object.keys(fileDigests).length === 0 ? {} : { file_digests: fileDigests }),
  };
  return { parameters, before };
}

async function findFolder(name: string): Promise<string> {
  try {
    const path = await absolutePath('/', `${name}/.`);
    if ((await stat(path)).isDirectory()) {
      return path;
    }
  } catch {
    // Told below.
  }
  throw cannotRun(`\`${name}\` is no folder of this host`);
}

function cannotRun(reason: string): AegisError {
  return new AegisError('invalid_request', reason, { reason });
}
