import { createHash } from 'node:crypto';
import { canonicalize } from '../../../../src/core/canonical_json.ts';
import { type Aegis, AegisError, IntegrityError, type OutcomeInput, type Run } from '../index.ts';
import { type CommandResult, rawOutput, scrubbedOutput } from './command_output.ts';
import { type CommandParameters, readParameters, toCall } from './command_parameters.ts';
import type { CommandSettings } from './command_settings.ts';
import { commandEnvironment } from './environment.ts';
import { findChange, type HostState, SHELL, surveyHost } from './host_state.ts';
import { type ProcessEnd, runProcess } from './run_process.ts';

/** A command that may run now. */
export interface ApprovedCommand {
  aegis: Aegis;
  settings: CommandSettings;
  /** What the host was like when the command was asked for; null when that was not seen. */
  before: HostState | null;
  /** Parsed from the bytes that were decided on. */
  parameters: CommandParameters;
  run: Run;
}

/**
 * Runs a command that was decided on, provided that the host still is as it was stated. What ended it is told as the
 * outcome: only status 0 is success.
 */
export async function runCommand(command: ApprovedCommand): Promise<CommandResult> {
  const { settings, run } = command;
  // Until the process is started, whatever goes wrong has had no effect.
  run.setOutcome({ outcome: 'failed', effect: 'none', detail: 'the command was not started' });
  const { parameters, file } = await checkHost(command);
  const { argv, cwd } = parameters;
  run.signal?.throwIfAborted();
  const end = await runProcess({
    file,
    // After `--` a text that starts with a dash is still the text (POSIX.1-2017 XCU sh).
    words: argv ?? [SHELL, '-c', '--', parameters.command],
    cwd,
    env: commandEnvironment(settings.inherited, parameters.env ?? {}),
    outputBytesMax: settings.outputBytesMax,
    killGraceMs: settings.killGraceMs,
    signal: run.signal,
  }).catch((error: NodeJS.ErrnoException) => {
    // Not as the cause: the arguments hang on it.
    const reason = `the command could not be started: ${error.code ?? error.name}`;
    run.setOutcome({ outcome: 'failed', effect: 'none', detail: reason });
    throw new AegisError('invalid_request', reason, { reason });
  });
  if (end.aborted) {
    run.setOutcome({ outcome: 'failed', effect: 'unknown', detail: `aborted: ${describeEnd(end)}` });
    throw run.signal?.reason;
  }
  run.setOutcome(outcomeOf(end));
  const result = await toResult(command, end);
  run.setOutcome({ ...outcomeOf(end), result_hash: hashResult(result) });
  return result;
}

/** The command and the file to run. Throws an `IntegrityError` unless both are what was decided on. */
async function checkHost({
  settings,
  before,
  parameters,
  run,
}: ApprovedCommand): Promise<{ parameters: CommandParameters; file: string }> {
  const read = readParameters(parameters, settings.allowedEnv);
  if ('problem' in read) {
    throw refuse(run, read.problem);
  }
  const approved = read.parameters;
  const { PATH = '' } = commandEnvironment(settings.inherited, approved.env ?? {});
  const now = await surveyHost(toCall(approved), PATH);
  if (now.executable === undefined) {
    throw refuse(run, `\`${approved.argv?.[0] ?? ''}\` is no executable of this host any more`);
  }
  const change = findChange(approved, run.edited, before, now);
  if (change !== undefined) {
    throw refuse(run, change);
  }
  return { parameters: approved, file: now.executable };
}

function refuse(run: Run, problem: string): IntegrityError {
  const message = `the command was not run: ${problem}`;
  run.setOutcome({ outcome: 'failed', effect: 'none', detail: clip(message) });
  return new IntegrityError(message, { reason: problem });
}

/** Status 0 is what every caller of a command takes for success (POSIX.1-2017 XCU §2.8.2). */
function outcomeOf(end: ProcessEnd): OutcomeInput {
  return end.exitCode === 0
    ? { outcome: 'executed', effect: 'occurred', detail: describeEnd(end) }
    : { outcome: 'failed', effect: 'unknown', detail: describeEnd(end) };
}

function describeEnd({ exitCode, signal }: ProcessEnd): string {
  if (signal !== null) {
    return `ended by ${signal}`;
  }
  return exitCode === null ? 'it did not end' : `exit status ${exitCode}`;
}

async function toResult({ aegis, settings }: ApprovedCommand, end: ProcessEnd): Promise<CommandResult> {
  const show = settings.scrub ? (bytes: ProcessEnd['stdout']) => scrubbedOutput(aegis, bytes) : rawOutput;
  const [stdout, stderr] = await Promise.all([show(end.stdout), show(end.stderr)]);
  return { exitCode: end.exitCode, signal: end.signal, stdout, stderr };
}

/**
 * Over what the caller gets, in RFC 8785 form. Not over the raw output: whoever reads the outcome could test guesses
 * of a secret against that.
 */
function hashResult({ exitCode, signal, stdout, stderr }: CommandResult): string {
  const shown = canonicalize({ exit_code: exitCode, signal, stdout: stdout.text, stderr: stderr.text });
  return createHash('sha256').update(shown, 'utf8').digest('hex');
}

/** The longest detail that the service takes, counted as it does at most. */
function clip(text: string): string {
  return text.length <= 4096 ? text : `${text.slice(0, 4095).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
