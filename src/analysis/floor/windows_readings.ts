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
import { isCut } from './cut.ts';
import { readFlatAs } from './windows_flat.ts';
import { escapedNames, isWindowsName, mayName, namesDevice, namesOf, namesWithin } from './windows_names.ts';

/** A command line as one shell would read it. */
export interface Reading {
  /** Every segment, each before those it would run in turn. */
  segments: Segment[];
  /** Those of them that may break a rule; the others only set what these are judged by. */
  judged: ReadonlySet<Segment>;
  /** Whether the text may be meant for a POSIX shell. */
  isDoubtful: boolean;
  /** The texts of commands whose deletions the rules of POSIX judge, and these do not. */
  posixDeletions: ReadonlySet<string>;
}

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
  const posixDeletions = listPosixDeletions(segments);
  const given = { segments, judged: new Set(segments), isDoubtful: false, posixDeletions };
  const piped = segments.flatMap((segment, index) =>
    segment.operator === '|' ? readPiped(segment, segments[index - 1]) : [],
  );
  if (call.argv !== null) {
    return [given, ...piped, ...(isCut(analysis) ? readFlat(call.argv.join(' '), posixDeletions) : [])];
  }
  const isNamed = mayName(call.command);
  const names = new Set(isNamed ? segments.flatMap(namesWithin).filter(isWindowsName) : []);
  // Where one shell has a substitution, another has a word with escapes in it.
  const hidesDevice = call.command.includes('`') && namesDevice(call.command);
  const isUnread = hidesDevice || analysis.problems.some(({ code }) => UNREAD.has(code));
  if (names.size === 0 && !(isUnread && isNamed) && !METHOD_CALL.test(call.command)) return [given, ...piped];
  const isPosix = analysis.language === 'posix';
  const text = isPosix && !isUnread ? withoutBodies(call.command, segments) : call.command;
  const escaped = new Set(segments.flatMap(escapedNames));
  const others = LANGUAGES.filter((language) => language !== analysis.language);
  const again = others.map((language) => {
    const own =
      isPosix && language === 'cmd'
        ? [...names].filter((name) => !POSIX_NAMES.has(name) || escaped.has(name))
        : names;
    return { ...readAgain(text, language, isUnread ? null : new Set(own), true), posixDeletions };
  });
  const isAnyCut = isCut(analysis) || again.some((one) => one.isCut);
  return [given, ...piped, ...again, ...(isAnyCut ? readFlat(text, posixDeletions) : [])];
}

/** What no `rm` of POSIX has in its words. */
const ONLY_WINDOWS = /\\|%|\$env:|:\//i;

/**
 * `rm` in a POSIX shell, with nothing in its words that only Windows has: what it deletes is for the rules of POSIX
 * alone, which know its loops, functions and parameters, whichever shell reads the same words as well.
 */
function listPosixDeletions(segments: readonly Segment[]): ReadonlySet<string> {
  const texts = new Set<string>();
  for (const { language, words, text } of segments) {
    const isRemoval = language === 'posix' && words[0]?.value?.endsWith('rm') === true;
    if (isRemoval && !ONLY_WINDOWS.test(text)) texts.add(text);
  }
  return texts;
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
function readPiped({ words: [name] }: Segment, from: Segment | undefined): Reading[] {
  if (from === undefined || !SHELLS.has(commandName(name?.value ?? ''))) return [];
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
): Reading & { isCut: boolean } {
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
  return {
    segments: listSegments(top),
    judged: new Set(listSegments(judged)),
    isDoubtful,
    posixDeletions: new Set(),
    isCut: isCut({ problems: unwrapping.problems.list }),
  };
}

/** Where wrappers are nested deeper than they are opened. */
function readFlat(text: string, posixDeletions: ReadonlySet<string>): Reading[] {
  return LANGUAGES.map((language) => {
    const segments = readFlatAs(text, language);
    return { segments, judged: new Set(segments), isDoubtful: true, posixDeletions };
  });
}

function analyse(text: string, language: CommandLanguage): CommandAnalysis {
  if (language === 'posix') return parsePosix(text);
  return language === 'cmd' ? parseCmd(text) : parsePowerShell(text);
}
