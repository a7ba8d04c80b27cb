import { findNearestName } from '../core/nearest_name.ts';
import { oneLine } from './config_values.ts';
import { describeError } from './describe_error.ts';
import { FolderRefused } from './policy/folder.ts';
import { printProblems, problemsToJson } from './policy/problems.ts';
import { type Terminal, toJsonText } from './terminal.ts';

/** 0: fine; 1: something was found that a reviewer should see; 2: wrong use, or the command could not do its work. */
export type ExitCode = 0 | 1 | 2;

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
}

/** The usage of a whole group. */
export function groupUsage({ commands }: CommandGroup): string {
  const entries = Object.values(commands).map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `Usage:\n${entries.join('\n')}`;
}

/** Runs a subcommand of a group and tells its exit code; never throws. */
export async function runGroup(group: CommandGroup, args: string[], terminal: Terminal): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === undefined) {
    terminal.complain(groupUsage(group));
    return 2;
  }
  if (isHelp(name)) {
    terminal.print(groupUsage(group));
    return 0;
  }
  const command = Object.hasOwn(group.commands, name) ? group.commands[name] : undefined;
  if (command === undefined) {
    terminal.complain(describeUnknown(group, name));
    return 2;
  }
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    terminal.print(`Usage: ${command.usage}\n${command.summary}`);
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
    return 2;
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
