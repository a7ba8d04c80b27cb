import type { Segment } from '../command/analysis.ts';
import { commandName } from '../command/command_name.ts';

/** Names that rules are about, and the shells that such commands may stand in. */
const NAMES = new Set(
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

const NAME_LENGTHS = [...NAMES].map((name) => name.length);
const SHORTEST = Math.min(...NAME_LENGTHS);
const LONGEST = Math.max(...NAME_LENGTHS);

/** Words longer than this are no names. */
const NAME_LENGTH_MAX = 512;

/** Whether rules are kept for commands of this name, or they may run such. */
export function isWindowsName(name: string): boolean {
  return NAMES.has(name);
}

/** Text without the escapes and quotes that any shell takes away. */
function withoutQuotes(text: string): string {
  return text.replaceAll(/[\^`"']/g, '');
}

function isNamePart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 37;
}

/** Whether a text holds any of the names, or a device, at all, escapes and quotes put aside: a first look that costs little. */
export function mayName(text: string): boolean {
  const plain = withoutQuotes(text).toLowerCase();
  let start = 0;
  for (let at = 0; at <= plain.length; at += 1) {
    if (isNamePart(plain.charCodeAt(at))) continue;
    const length = at - start;
    if (length >= SHORTEST && length <= LONGEST && NAMES.has(plain.slice(start, at))) return true;
    start = at + 1;
  }
  return DEVICE.test(plain);
}

const DEVICE = /[\\/]{2}[.?][\\/]|\\device\\/i;

export function namesDevice(text: string): boolean {
  return DEVICE.test(withoutQuotes(text));
}

function toName(text: string): string {
  return text.length > NAME_LENGTH_MAX ? '' : commandName(withoutQuotes(text));
}

/** What the first word may name: as read, and as written but for escapes and quotes. */
export function namesOf({ words: [word] }: Segment): string[] {
  if (word === undefined) return [];
  return word.value === word.text ? [commandName(word.text)] : [toName(word.value ?? ''), toName(word.text)];
}

/** Names of a command with carets anywhere in its words, which a POSIX shell leaves there and so does not know. */
export function escapedNames({ words }: Segment): string[] {
  return words.some(({ text }) => text.includes('^')) ? words.map(({ text }) => toName(text)) : [];
}

/** What any word may name, since another shell may start commands elsewhere; text in quotes stays one word. */
export function namesWithin(segment: Segment): string[] {
  return segment.words.flatMap(({ value, text }) => {
    if (value === text && /^[\w.-]{0,64}$/.test(text)) return text.toLowerCase().replace(/\.exe$/, '');
    const parts = /["']/.test(text) ? [text] : text.split(/[\s;&|(){},<>]+/);
    return [toName(value ?? ''), ...parts.map(toName)];
  });
}
