import { findNearestName } from '../core/nearest_name.ts';
import { OperatorError } from '../core/operator_error.ts';
import { oneLine } from './config_values.ts';
import { describeError } from './describe_error.ts';
import { FolderRefused } from './policy/folder.ts';
import { printProblems, problemsToJson } from './policy/problems.ts';
import { type Terminal, toJsonText } from './terminal.ts';

/**
 * 0: fine; 1: something was found that a reviewer should see, or the answer is no; 2: wrong use, or the command could
 * not do its work; 3: a service that it needs cannot be had now, so that trying again is worth it.
 */
export type ExitCode = 0 | 1 | 2 | 3;

/** What ends a command with another code than 2. Its message is printed as an `OperatorError`'s is. */
export class CommandFailed extends OperatorError {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, cause);
    this.name = 'CommandFailed';
    this.exitCode = exitCode;
  }
}

/** A subcommand, for instance `aegis policy validate`. */
export interface Command {
  /** The command line, with what may be left out in brackets. */
  usage: string;
  /** What it does and when it ends with 1, in a few words. */
  summary: string;
  /** @throws OperatorError for wrong use; FolderRefused for a policy folder that does not load. */
  run(args: string[], terminal: Terminal): Promise<ExitCode>;
}

/** Commands that share a first word. */
export interface CommandGroup {
  name: string;
  commands: Readonly<Record<string, Command>>;
  /** What holds for all of them: printed below the usage. */
  notes?: string;
}

/** The usage of a whole group. */
export function groupUsage({ commands }: CommandGroup): string {
  const entries = Object.values(commands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `Usage:\n${entries.join('\n')}`;
}

/** A usage with the group's notes below it. */
function withNotes(usage: string, { notes }: CommandGroup): string {
  return notes === undefined ? usage : `${usage}\n\n${notes}`;
}

/** Runs a subcommand of a group and tells its exit code; never throws. */
export async function runGroup(group: CommandGroup, args: string[], terminal: Terminal): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === undefined) {
    terminal.complain(withNotes(groupUsage(group), group));
    return 2;
  }
  if (isHelp(name)) {
    terminal.print(withNotes(groupUsage(group), group));
    return 0;
  }
  const command = Object.hasOwn(group.commands, name) ? group.commands[name] : undefined;
  if (command === undefined) {
    terminal.complain(describeUnknown(group, name));
    return 2;
  }
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    terminal.print(withNotes(`Usage: ${command.usage}\n${command.summary}`, group));
    return 0;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    return reportFailure(error, rest.includes('--json'), terminal);
  }
}

/** Whether an argument asks for the usage. */
export function isHelp(argument: string | undefined): boolean {
  return argument === 'help' || argument === '--help' || argument === '-h';
}

function reportFailure(error: unknown, asJson: boolean, terminal: Terminal): ExitCode {
  if (!(error instanceof FolderRefused)) {
    terminal.complain(describeError(error));
    return error instanceof CommandFailed ? error.exitCode : 2;
  }
  const { directory, problems } = error;
  if (asJson) terminal.print(toJsonText({ valid: false, directory, problems: problemsToJson(problems) }));
  else printProblems(terminal, directory, problems);
  return 1;
}

function describeUnknown({ name: group, commands }: CommandGroup, name: string): string {
  const nearest = findNearestName(name.slice(0, 40), Object.keys(commands), 2);
  const remedy =
    nearest === undefined
      ? `Run \`aegis ${group} help\` for those there are`
      : `Did you mean \`${nearest}\`?`;
  return `unknown command \`aegis ${group} ${oneLine(name)}\`. ${remedy}`;
}
