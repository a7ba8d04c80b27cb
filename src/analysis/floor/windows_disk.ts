import type { Segment } from '../command/analysis.ts';
import type { WindowsCommand, WindowsRule } from './windows_command.ts';
import { isRawDevice } from './windows_paths.ts';

const DRIVE = /^(?:[a-z]:\\?|\\\\[.?]\\.+)$/i;
const FORMATTERS = new Set([
  'format-volume',
  'clear-disk',
  'initialize-disk',
  'remove-partition',
  'clear-physicaldisk',
]);

/** `format C:` and the cmdlets that empty a disk or a volume. */
export const formatRule: WindowsRule = ({ name, args }) => {
  if (FORMATTERS.has(name)) return 'format-filesystem';
  const isFormat = name === 'format' && !args.includes('/?') && args.some((arg) => DRIVE.test(arg));
  return isFormat ? 'format-filesystem' : null;
};

const ERASING = /\b(?:clean|format|delete\s+(?:partition|volume|disk)|convert\s+(?:gpt|mbr))\b/i;

/** Whether a text is a script of `diskpart` that erases. */
export function erasesDisk(text: string): boolean {
  return ERASING.test(text);
}

/** Commands whose last argument, or `of=`, or `-Path`, is written to. */
const WRITERS = new Set(
  (
    'dd copy xcopy cp cpi copy-item move mv mi move-item set-content sc add-content ac out-file tee tee-object ' +
    'clear-content clc fsutil'
  ).split(' '),
);

/** A word as written, but for quotes and escapes. */
function bare(text: string): string {
  return text.replaceAll(/['"^`]/g, '');
}

/** Whether what a segment prints goes to a disk past its file system. */
export function redirectsToDevice({ redirections }: Segment): boolean {
  return redirections.some(
    ({ operator, target }) =>
      operator.includes('>') &&
      target !== null &&
      (isRawDevice(target.value ?? '') || isRawDevice(bare(target.text))),
  );
}

/** A disk written to past its file system. */
export const deviceRule: WindowsRule = (command) => {
  const { name, segment, args } = command;
  if (redirectsToDevice(segment)) return 'raw-device-write';
  if (!WRITERS.has(name)) return null;
  return targetsOf(name, [...args, ...writtenWords(command)]).some(isRawDevice) ? 'raw-device-write' : null;
};

/** Words as written, since a POSIX shell takes their backslashes. */
function writtenWords({ segment }: WindowsCommand): string[] {
  return segment.language === 'posix' ? segment.words.slice(1).map(({ text }) => bare(text)) : [];
}

function targetsOf(name: string, args: readonly string[]): string[] {
  if (name === 'dd') {
    return args.flatMap((arg) => (arg.toLowerCase().startsWith('of=') ? [arg.slice(3)] : []));
  }
  const operands = args.filter((arg) => !/^[-/][a-z]/i.test(arg));
  return /^(?:x?copy|cp|cpi|copy-item|move|mv|mi|move-item)$/.test(name) ? operands.slice(1) : operands;
}
