import type { Segment } from '../command/analysis.ts';
import { commandName } from '../command/command_name.ts';
import type { WindowsCommand } from './windows_command.ts';
import { redirectsToDevice } from './windows_disk.ts';
import { isWindowsName } from './windows_names.ts';
import { SOME_PART } from './windows_paths.ts';
import { expandWord, noteAssignments, readValues, type WindowsScope } from './windows_values.ts';

const LISTERS = new Set(
  (
    'get-childitem gci ls dir get-item gi resolve-path rvpa convert-path get-process gps ps get-wmiobject gwmi ' +
    'get-ciminstance gcim'
  ).split(' '),
);
const FILTERS = new Set(['where-object', 'where', '?', 'select-object', 'select']);
/** What a filter has to look at to leave files out. */
const NARROWING = /name|extension|time|length|path|size|mode|first|last|\bid\b/i;

const FOLDER_CHANGERS = new Set(['cd', 'chdir', 'pushd', 'set-location', 'sl', 'push-location']);
const FOLDERS_MAX = 8;

/** How much text expansion may give one command. */
const ARGUMENTS_MAX = 65_536;

/** What may print a script that another command reads. */
const PRINTERS = new Set([
  '',
  'echo',
  'printf',
  'write-output',
  'write',
  'set-content',
  'sc',
  'out-file',
  'add-content',
]);

export function isPrinter({ name }: WindowsCommand): boolean {
  return PRINTERS.has(name);
}

/**
 * Whether a command of a POSIX shell can neither break a rule nor change what others are judged by, so that its words
 * need not be looked at.
 */
function isIdle(segment: Segment): boolean {
  if (segment.language !== 'posix' || redirectsToDevice(segment)) return false;
  const value = segment.words[0]?.value ?? null;
  if (value === null) return false;
  const name = commandName(value);
  const isKnown = LISTERS.has(name) || FILTERS.has(name) || FOLDER_CHANGERS.has(name) || PRINTERS.has(name);
  return !isKnown && !isWindowsName(name);
}

/** What is handed on to the next command. */
interface Handed {
  lister: WindowsCommand | null;
  isFiltered: boolean;
}

/**
 * The commands of one reading, in order, each with what is known where it stands. In a doubtful one `rm` may be that of
 * POSIX, which the other floor judges: `rm -r \` at the end of a line goes on in the next.
 */
export function listWindowsCommands(
  segments: readonly Segment[],
  scope: WindowsScope,
  isDoubtful: boolean,
): WindowsCommand[] {
  const commands: WindowsCommand[] = [];
  const handed: Handed = { lister: null, isFiltered: false };
  for (const segment of segments) {
    noteAssignments(segment, scope);
    if (isIdle(segment)) continue;
    for (const name of namesOf(segment, scope)) {
      const isPosix = segment.language === 'posix' || (isDoubtful && name === 'rm');
      const command = toCommand(name, segment, isPosix ? { ...scope, unknown: SOME_PART } : scope, handed);
      commands.push(isPosix ? { ...command, args: command.args.filter((arg) => arg !== '\\') } : command);
      noteHanded(command, handed);
      if (FOLDER_CHANGERS.has(name)) changeFolder(command, scope);
    }
  }
  return commands;
}

function namesOf({ words: [first] }: Segment, scope: WindowsScope): Iterable<string> {
  return first === undefined ? [''] : new Set(expandWord(first, scope).map(commandName));
}

function noteHanded(command: WindowsCommand, handed: Handed): void {
  const { name, segment } = command;
  if (LISTERS.has(name) || name === '') {
    handed.lister = command;
    handed.isFiltered = false;
  } else if (FILTERS.has(name)) {
    handed.isFiltered ||= NARROWING.test(segment.text);
  }
}

function toCommand(
  name: string,
  segment: Segment,
  scope: WindowsScope,
  { lister, isFiltered }: Handed,
): WindowsCommand {
  const isExpression = segment.words.length === 0;
  const args = isExpression ? readExpression(segment, scope) : expandAll(segment.words.slice(1), scope);
  return {
    name,
    args,
    segment,
    scope: { ...scope, folders: [...scope.folders] },
    lister: takesFromPipe(segment) ? lister : null,
    isFiltered,
  };
}

function expandAll(words: Segment['words'], scope: WindowsScope): string[] {
  const args: string[] = [];
  for (const word of words) {
    if (args.length > ARGUMENTS_MAX) break;
    for (const value of expandWord(word, scope)) args.push(value);
  }
  return args;
}

/** An expression hands on its strings: `'C:\' | Remove-Item`. */
function readExpression({ text, language }: Segment, scope: WindowsScope): string[] {
  return language === 'powershell' && text.length <= 2048 ? (readValues(text, scope) ?? []) : [];
}

/** What the pipe hands over, as a parameter or as `$_` in a block. */
function takesFromPipe({ operator, language, words }: Segment): boolean {
  return (
    language === 'powershell' &&
    (operator === '|' || words.some(({ text }) => /^["']?\$(?:_|psitem)(?![\w:])/i.test(text)))
  );
}

function changeFolder({ args, scope: { folders } }: WindowsCommand, scope: WindowsScope): void {
  const target = args.find((arg) => !/^[-/][a-z]/i.test(arg));
  if (target === undefined) return;
  const isRooted = /^(?:[a-z]:|[\\/~])/i.test(target);
  const next = isRooted
    ? [target]
    : folders.map((folder) => (folder === null ? null : `${folder}\\${target}`));
  scope.folders = [...new Set([...scope.folders, ...next])].slice(0, FOLDERS_MAX);
}
