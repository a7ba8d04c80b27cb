import type { CommandCall } from '../../core/command_call.ts';
import {
  type CommandAnalysis,
  type Construct,
  listSegments,
  type Segment,
  type Word,
} from '../command/analysis.ts';
import { isInterpreter, isShell } from '../command/command_kinds.ts';
import { commandName } from '../command/command_name.ts';
import { openerOf } from '../command/unwrap/openers.ts';

/**
 * What no allowlist covers, whatever stands in it. A function or a loop could give a later word another meaning, and
 * an arithmetic expansion runs what the value of a variable says; the others run, read or write beside the words.
 */
const BLOCKED: Partial<Record<Construct, string>> = {
  redirection: 'a redirection',
  here_document: 'a here-document',
  command_substitution: 'a command substitution',
  process_substitution: 'a process substitution',
  arithmetic_expansion: 'an arithmetic expansion',
  subshell: 'a subshell',
  group: 'a group',
  control_flow: 'control flow',
  function: 'a function',
  newline: 'a newline between commands',
};

/**
 * Names that a shell takes for itself and that change what later words stand for: where commands are looked for, what
 * a name is short for, the directory that relative paths start from, the variables that a command gets. Some systems
 * have files of these names too.
 */
const CHANGES_LATER_WORDS = new Set(
  `. alias builtin cd chdir command declare doskey enable eval exec export getopts hash let local mapfile path popd
   pushd read readarray readonly sal set set-alias set-item set-location set-variable setx shopt sl source trap typeset
   unalias unset wait [[`.split(/\s+/),
);

/** With `-v` they take the name of a variable, and a shell runs what stands between the brackets of an index. */
const TAKES_VARIABLE_NAME = new Set(['printf', 'test', '[']);

/** Wrappers that, told to by their options, run a command in another folder, or look for it elsewhere. */
const MOVES_BY_OPTION = new Set(['doas', 'env', 'genv', 'runuser', 'su', 'sudo']);
/** Wrappers that always do, or that run it among other files. */
const MOVES_ALWAYS = new Set(['chroot', 'gchroot', 'fakechroot', 'nsenter', 'proot', 'unshare']);

/** What of a command keeps it from ever being covered by an allowlist, for a person; empty for nothing. */
export function findBlocked(call: CommandCall, analysis: CommandAnalysis): string[] {
  const constructs = analysis.constructs.flatMap((construct) => BLOCKED[construct] ?? []);
  const found = constructs.map((construct) => `it has ${construct}`);
  // A shell gives a carriage return no meaning, a terminal a misleading one.
  if (call.argv === null && call.command.includes('\r')) found.push('it has a carriage return');
  if (isReadByWindows(call, analysis))
    found.push('a shell of Windows reads it. Send it as an argument vector');
  return [...found, ...listSegments(analysis.segments).flatMap(findInSegment)];
}

/**
 * Whether a shell but that of POSIX reads any of the text. Which one does is not in the action, and what is plain to
 * one holds commands for another: there only an argument vector, which none reads, can be covered.
 */
function isReadByWindows({ argv }: CommandCall, { segments }: CommandAnalysis): boolean {
  const read = argv === null ? segments : segments.flatMap(({ inner }) => inner);
  return listSegments(read).some(({ language }) => language !== 'posix');
}

function findInSegment({ words }: Segment): string[] {
  const [name, ...rest] = words;
  const command = commandName(name?.value ?? '');
  const found: string[] = [];
  if (CHANGES_LATER_WORDS.has(command)) found.push(`\`${command}\` changes what later words stand for`);
  if (movesCommand(command, rest)) found.push(`\`${command}\` looks elsewhere for what it runs`);
  if (TAKES_VARIABLE_NAME.has(command) && rest.some(takesName)) {
    found.push(`\`${command}\` is given a variable's name`);
  }
  if (words.some(({ pieces }) => pieces.some((piece) => piece.kind === 'variable' && !piece.plain))) {
    found.push('it has a parameter expansion that does more than insert a value');
  }
  if (runsArguments(command) && rest.some(({ value }) => value === null)) {
    found.push(`\`${command}\` runs what its arguments say, and they are not all known`);
  }
  return found;
}

/** Whether a wrapper may run another file than its caller would by the same word. */
function movesCommand(command: string, rest: readonly Word[]): boolean {
  if (command === 'find' || command === 'gfind') {
    return rest.some(({ value }) => value === '-execdir' || value === '-okdir');
  }
  const hasOption = rest.some(({ value }) => value === null || /^-./.test(value));
  return MOVES_ALWAYS.has(command) || (MOVES_BY_OPTION.has(command) && hasOption);
}

/** Whether the arguments of a command can hold commands, as those of `sudo`, of `sh` and of `git -c` can. */
function runsArguments(command: string): boolean {
  return isShell(command) || isInterpreter(command) || openerOf(command, 'posix') !== undefined;
}

function takesName({ value }: Word): boolean {
  return value === null || value.startsWith('-v');
}
