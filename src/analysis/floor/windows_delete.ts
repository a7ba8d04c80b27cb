import type { FloorRule } from './floor.ts';
import { isParameter, readParameter, type WindowsCommand, type WindowsRule } from './windows_command.ts';
import { placeOfTarget, splitPattern, type WindowsPlace } from './windows_paths.ts';

const CMD_DELETERS = new Set(['del', 'erase', 'rd', 'rmdir', 'deltree']);
const POWERSHELL_DELETERS = new Set(['remove-item', 'ri', 'rm', 'del', 'erase', 'rd', 'rmdir']);
const OTHER_DELETERS = new Set(['sdelete', 'sdelete64']);

/** Switches of `del` and `rd`, one or several in a word. */
const SWITCHES = /^(?:\/(?:[sfqp?]|a(?::?[-rhsailo]*)))+$/i;
const TRAILING_SWITCHES = /(?:\/[sfqp]){1,8}$/i;
/** Letters of `rm` as other systems have it. */
const RM_LETTERS = /^-[a-z]*r[a-z]*$/i;
const RM_RECURSIVE = /^--r(?:e(?:c[a-z]*)?)?$/i;

/** Parameters of `Remove-Item` and of what lists files that take a value which is no path. */
const VALUE_PARAMETERS = [
  'filter',
  'exclude',
  'credential',
  'erroraction',
  'warningaction',
  'stream',
  'depth',
];
const COMMON_ALIASES = new Set(['ea', 'wa', 'ev', 'wv', 'ov', 'ob', 'pv', 'infa']);

interface Deletion {
  isRecursive: boolean;
  targets: string[];
  /** Names that only are deleted; empty when all are. */
  patterns: string[];
}

/** Recursive deletion of a drive, of the Windows folder or of a user's home. */
export const deleteRule: WindowsRule = (command) => {
  const { name, lister } = command;
  if (!CMD_DELETERS.has(name) && !POWERSHELL_DELETERS.has(name) && !OTHER_DELETERS.has(name)) return null;
  const own = readDeletion(command);
  const isPiped = own.targets.every((target) => /^\uFFFC*$/.test(target));
  const listed = isPiped && lister !== null && !command.isFiltered ? readDeletion(lister) : null;
  const deletion: Deletion =
    listed === null
      ? own
      : {
          isRecursive: own.isRecursive || listed.isRecursive,
          targets: listed.targets.length === 0 ? ['.'] : listed.targets,
          patterns: [...own.patterns, ...listed.patterns],
        };
  if (!deletion.isRecursive && name !== 'deltree') return null;
  return judgeDeletion(deletion, command);
};

function readDeletion({ name, args, segment }: WindowsCommand): Deletion {
  const { language } = segment;
  const deletion: Deletion = { isRecursive: false, targets: [], patterns: [] };
  const takesSlashes = !name.includes('-');
  const takesLetters = name === 'rm' && language !== 'powershell';
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (takesSlashes && SWITCHES.test(arg)) {
      if (/\/s/i.test(arg)) deletion.isRecursive = true;
    } else if (takesLetters && (RM_RECURSIVE.test(arg) || RM_LETTERS.test(arg))) {
      deletion.isRecursive = true;
    } else {
      at += readArgument(deletion, arg, args[at + 1], language === 'powershell' || OTHER_DELETERS.has(name));
    }
  }
  return deletion;
}

/** Reads one argument and says how many more it took. Only PowerShell has `-Recurse`, and what it is short for. */
function readArgument(
  deletion: Deletion,
  arg: string,
  next: string | undefined,
  takesRecurse: boolean,
): number {
  const parameter = readParameter(arg);
  if (parameter === null) {
    const switches = TRAILING_SWITCHES.exec(arg)?.[0] ?? '';
    if (/s/i.test(switches)) deletion.isRecursive = true;
    deletion.targets.push(arg.slice(0, arg.length - switches.length));
    return 0;
  }
  const { name, value } = parameter;
  if (isParameter(name, 'recurse', 1) || name === 's') {
    if (takesRecurse && !/^(?:false|0)$/i.test(value ?? '')) deletion.isRecursive = true;
    return 0;
  }
  if (isParameter(name, 'include', 1) || isParameter(name, 'filter', 2)) {
    deletion.patterns.push(value ?? next ?? '');
    return value === null ? 1 : 0;
  }
  if (COMMON_ALIASES.has(name) || VALUE_PARAMETERS.some((full) => isParameter(name, full, 3))) {
    return value === null ? 1 : 0;
  }
  if (value !== null) deletion.targets.push(value);
  return 0;
}

/** Files without which a machine has no way back: disk images, backups and their catalogues. */
const BACKUP_FILE = /^(?:backup.*|.*\.(?:vhdx?|bac|bak|wbcat|bkf|wbverify|dsk))$/;
/** Files without which it does not run. */
const SYSTEM_FILE = /^\*+\.(?:exe|dll|sys|efi|mui|ex\?|dl\?|sy\?)$/;

function judgeDeletion({ targets, patterns }: Deletion, { scope }: WindowsCommand): FloorRule | null {
  const specific = patterns.filter((pattern) => !/^[*.?]*$/.test(pattern));
  for (const target of targets) {
    const place = specific.length === 0 ? placeOfTarget(target, scope) : null;
    if (place !== null) return ruleFor(place);
    const { folder, pattern } = splitPattern(target);
    const names = specific.length === 0 ? [pattern] : specific.map((name) => name.toLowerCase());
    const within = specific.length === 0 ? folder : target;
    if (placeOfTarget(within, scope) === null) continue;
    if (names.some((name) => BACKUP_FILE.test(name) && name.includes('*'))) return 'shadow-copy-destruction';
    if (names.some((name) => SYSTEM_FILE.test(name))) return 'recursive-delete-of-root';
  }
  return null;
}

export function ruleFor(place: WindowsPlace): FloorRule {
  return place === 'root' ? 'recursive-delete-of-root' : 'recursive-delete-of-home';
}

/** Copying nothing over a drive empties it. */
export const mirrorRule: WindowsRule = ({ name, args, scope }) => {
  if (name !== 'robocopy' || !args.some((arg) => /^[/-](?:mir|purge)$/i.test(arg))) return null;
  const [, target] = args.filter((arg) => !/^[/-][a-z]/i.test(arg));
  const place = target === undefined ? null : placeOfTarget(target, scope);
  return place === null ? null : ruleFor(place);
};

const EACH_FILE_DELETER = /\b(?:del|erase|rd|rmdir|remove-item)\b/i;

/** `forfiles /p C:\ /s /c "cmd /c del @path"`, where no mask or date leaves files out. */
export const forfilesRule: WindowsRule = ({ name, args, scope }) => {
  if (name !== 'forfiles' || !EACH_FILE_DELETER.test(valueAfter(args, 'c') ?? '')) return null;
  const isNarrowed = valueAfter(args, 'd') !== null || !/^[*.?]*$/.test(valueAfter(args, 'm') ?? '*');
  const isRecursive = args.some((arg) => /^[/-]s$/i.test(arg));
  const place = isNarrowed || !isRecursive ? null : placeOfTarget(valueAfter(args, 'p') ?? '.', scope);
  return place === null ? null : ruleFor(place);
};

function valueAfter(args: readonly string[], letter: string): string | null {
  const at = args.findIndex(
    (arg) => arg.toLowerCase() === `/${letter}` || arg.toLowerCase() === `-${letter}`,
  );
  return at === -1 ? null : (args[at + 1] ?? null);
}
