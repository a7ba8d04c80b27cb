import type { CommandCall } from '../../core/command_call.ts';
import {
  type CommandAnalysis,
  type CommandLanguage,
  listSegments,
  type Segment,
} from '../command/analysis.ts';
import { commandName } from '../command/command_name.ts';
import { parsePosix } from '../command/posix/parse_posix.ts';
import { Problems } from '../command/problems.ts';
import { textsAllowed, unwrapSegments } from '../command/unwrap/unwrap.ts';
import { parseCmd } from '../command/windows/parse_cmd.ts';
import { parsePowerShell } from '../command/windows/parse_powershell.ts';

/** A command line as one shell would read it. */
export interface Reading {
  /** Every segment, each before those it would run in turn. */
  segments: Segment[];
  /** Those of them that may break a rule; the others only set what these are judged by. */
  judged: ReadonlySet<Segment>;
  /** Whether the text may be meant for a POSIX shell. */
  isDoubtful: boolean;
}

/** Names that rules are about, and the shells that such commands may stand in. */
const WINDOWS_NAMES = new Set(
  (
    'cmd powershell pwsh wsl iex invoke-expression start start-process forfiles del erase rd rmdir deltree remove-item ' +
    'ri rm sdelete sdelete64 robocopy format format-volume clear-disk initialize-disk remove-partition ' +
    'clear-physicaldisk diskpart diskshadow dd copy xcopy cp cpi copy-item move mv mi move-item set-content sc ' +
    'add-content ac out-file tee tee-object clear-content clc fsutil vssadmin wmic wbadmin bcdedit reg reagentc ' +
    'disable-computerrestore remove-wmiobject rwmi remove-ciminstance rcim get-wmiobject gwmi get-ciminstance gcim ' +
    'shutdown stop-computer restart-computer taskkill stop-process spps kill get-childitem gci ls dir get-item gi ' +
    'get-process gps ps %0'
  ).split(' '),
);

/** Problems after which the segments may not be all that the text holds. */
const UNREAD = new Set(['syntax', 'too_deep', 'too_long', 'dynamic_name']);

/** Names that POSIX systems have as well. What these do in a text that a POSIX shell can read, that reading tells. */
const POSIX_NAMES = new Set(['rm', 'ls', 'dir', 'cp', 'mv', 'dd', 'kill', 'ps', 'tee', 'shutdown']);

/** Expressions of PowerShell that call a method need no name. */
const METHOD_CALL = /\]::|\)\./;

/**
 * The readings to judge: the given one, and, where it names a command of Windows or could not be made, those of `cmd`
 * and PowerShell, since a POSIX shell takes backslashes away and which shell reads the text is not sure. A name that
 * only another reading finds, as text in a message could be, is not judged.
 */
export function readAsWindows(call: CommandCall, analysis: CommandAnalysis): Reading[] {
  const segments = listSegments(analysis.segments);
  const given: Reading = { segments, judged: new Set(segments), isDoubtful: false };
  const piped = segments.flatMap((segment, index) => readPiped(segment, segments[index - 1]));
  if (call.argv !== null) return [given, ...piped];
  const isNamed = mayName(call.command);
  const names = new Set(
    isNamed ? segments.flatMap(namesWithin).filter((name) => WINDOWS_NAMES.has(name)) : [],
  );
  const escaped = new Set(segments.flatMap(escapedNames));
  // Where one shell has a substitution, another has a word with escapes in it.
  const hidesDevice = call.command.includes('`') && namesDevice(call.command);
  const isUnread = hidesDevice || analysis.problems.some(({ code }) => UNREAD.has(code));
  if (names.size === 0 && !(isUnread && isNamed) && !METHOD_CALL.test(call.command)) return [given, ...piped];
  const isPosix = analysis.language === 'posix';
  const text = isPosix && !isUnread ? withoutBodies(call.command, segments) : call.command;
  const others = LANGUAGES.filter((language) => language !== analysis.language);
  const again = others.map((language) => {
    const own =
      isPosix && language === 'cmd'
        ? [...names].filter((name) => !POSIX_NAMES.has(name) || escaped.has(name))
        : names;
    return readAgain(text, language, isUnread ? null : new Set(own), true);
  });
  return [given, ...piped, ...again];
}

const LANGUAGES: readonly CommandLanguage[] = ['cmd', 'powershell'];

/** The text without its here-documents, which no other shell has; each is searched for after the one before. */
function withoutBodies(text: string, segments: readonly Segment[]): string {
  let rest = '';
  let from = 0;
  for (const { body } of segments.flatMap(({ redirections }) => redirections)) {
    const at = body === null || body === '' ? -1 : text.indexOf(body, from);
    if (body === null || at === -1) continue;
    rest += text.slice(from, at);
    from = at + body.length;
  }
  return rest + text.slice(from);
}

const SHELLS = new Set(['cmd', 'powershell', 'pwsh']);

/** What `echo` prints into a shell of Windows. */
function readPiped({ operator, words: [name] }: Segment, from: Segment | undefined): Reading[] {
  if (operator !== '|' || from === undefined || !SHELLS.has(commandName(name?.value ?? ''))) return [];
  const [printer, ...printed] = from.words;
  if (!/^(?:echo|printf|write-output|write)$/.test(commandName(printer?.value ?? ''))) return [];
  const text = printed.map(({ value, text: written }) => value ?? written).join(' ');
  return LANGUAGES.map((language) => readAgain(text, language, null, false));
}

function readAgain(
  text: string,
  language: CommandLanguage,
  names: ReadonlySet<string> | null,
  isDoubtful: boolean,
): Reading {
  const unwrapping = {
    analyse,
    problems: new Problems(),
    constructs: new Set<never>(),
    left: textsAllowed(text.length),
  };
  const top = unwrapSegments(unwrapping, analyse(text, language).segments);
  const isJudged = (segment: Segment) =>
    names === null || listSegments([segment]).some((inner) => namesOf(inner).some((name) => names.has(name)));
  const judged = top.filter((segment) => segment.words.length === 0 || isJudged(segment));
  return { segments: listSegments(top), judged: new Set(listSegments(judged)), isDoubtful };
}

function analyse(text: string, language: CommandLanguage): CommandAnalysis {
  if (language === 'posix') return parsePosix(text);
  return language === 'cmd' ? parseCmd(text) : parsePowerShell(text);
}

/** Words longer than this are no names. */
const NAME_LENGTH_MAX = 512;

/** Whether a text holds any of the names, or a device, at all, escapes and quotes put aside: a first look that costs little. */
function mayName(text: string): boolean {
  const words = text
    .toLowerCase()
    .replaceAll(/[\^`"']/g, '')
    .split(/[^a-z0-9%-]+/);
  return namesDevice(text) || words.some((word) => WINDOWS_NAMES.has(word));
}

const DEVICE = /[\\/]{2}[.?][\\/]|\\device\\/i;

function namesDevice(text: string): boolean {
  return DEVICE.test(text.replaceAll(/[\^`"']/g, ''));
}

function toName(text: string): string {
  return text.length > NAME_LENGTH_MAX ? '' : commandName(text.replaceAll(/[\^`"']/g, ''));
}

/** What the first word may name: as read, and as written but for escapes and quotes. */
function namesOf({ words: [word] }: Segment): string[] {
  if (word === undefined) return [];
  return word.value === word.text ? [commandName(word.text)] : [toName(word.value ?? ''), toName(word.text)];
}

/** Names that a POSIX shell reads with the carets in them, and so does not know. */
function escapedNames({ words }: Segment): string[] {
  return words.flatMap(({ text }) => (text.includes('^') ? toName(text) : []));
}

/** What any word may name, since another shell may start commands elsewhere; text in quotes stays one word. */
function namesWithin(segment: Segment): string[] {
  return segment.words.flatMap(({ value, text }) => {
    if (value === text && /^[\w.-]{0,64}$/.test(text)) return text.toLowerCase().replace(/\.exe$/, '');
    const parts = /["']/.test(text) ? [text] : text.split(/[\s;&|(){},<>]+/);
    return [toName(value ?? ''), ...parts.map(toName)];
  });
}
