import type { AuthorizeContext } from '../index.ts';
import type { CommandParameters } from './command_parameters.ts';
import { type Environment, inheritedEnvironment, runsCode } from './environment.ts';

/** How commands are asked for and run. */
export interface CommandSpec {
  /** As the service's registry names them; default `shell` and `exec`. */
  tool?: string | undefined;
  action?: string | undefined;
  /** What is acted on; a function is given a copy of the frozen parameters and answers at once. */
  resource?: string | null | ((parameters: CommandParameters) => string | null) | undefined;
  /** Sent with each call, with wire names. */
  context?: AuthorizeContext | undefined;
  /** Where commands run, from this process's own folder, which is the default; a call's own is from there. */
  cwd?: string | undefined;
  /** Set for each command, and shown; a call's own is laid over it. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Further variables that commands inherit from this process, unshown. */
  inherit?: readonly string[] | undefined;
  /** Variables that make other code run and that `env` may set all the same, for instance `PYTHONPATH`. */
  allowEnv?: readonly string[] | undefined;
  /** How much of each stream is kept: 0 to 1,048,576 bytes, which is the default. */
  outputBytesMax?: number | undefined;
  /** How long an aborted command may take to end by itself, in milliseconds. Default 5,000. */
  killGraceMs?: number | undefined;
  /** With `false` output comes back as it was written. Default true. */
  scrub?: boolean | undefined;
}

/** A spec with nothing left out. */
export interface CommandSettings {
  inherited: Environment;
  allowedEnv: ReadonlySet<string>;
  outputBytesMax: number;
  killGraceMs: number;
  scrub: boolean;
}

const OUTPUT_BYTES_MAX = 1024 * 1024;
const KILL_GRACE_MS_MAX = 2 ** 31 - 1;

/** Throws a `TypeError` when a member cannot be used. */
export function readSettings(spec: CommandSpec): CommandSettings {
  const { inherit = [], allowEnv = [], outputBytesMax = OUTPUT_BYTES_MAX, killGraceMs = 5_000 } = spec;
  const unsafe = inherit.find(runsCode);
  if (unsafe !== undefined) {
    throw new TypeError(
      `\`${unsafe}\` makes other code run than is shown. Set it in \`env\`, where it is shown`,
    );
  }
  if (!(Number.isSafeInteger(outputBytesMax) && outputBytesMax >= 0 && outputBytesMax <= OUTPUT_BYTES_MAX)) {
    throw new TypeError(`\`outputBytesMax\` is not a whole number from 0 to ${OUTPUT_BYTES_MAX}`);
  }
  if (!(typeof killGraceMs === 'number' && killGraceMs >= 0 && killGraceMs <= KILL_GRACE_MS_MAX)) {
    throw new TypeError(`\`killGraceMs\` is not a number from 0 to ${KILL_GRACE_MS_MAX}`);
  }
  return {
    inherited: inheritedEnvironment(inherit),
    allowedEnv: new Set(allowEnv),
    outputBytesMax,
    killGraceMs,
    // Anything but `false` itself scrubs.
    scrub: spec.scrub !== false,
  };
}
