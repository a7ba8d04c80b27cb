/** What recursive deletion of a path would destroy. */
export type WindowsPlace = 'root' | 'home';

/** What paths are judged against. */
export interface WindowsGround {
  /** Folders that the command may run in; null for one that is not known. */
  folders: readonly (string | null)[];
  /** The user's profile folder, when the call states it. */
  home: string | null;
}

/** A piece of a path that is not known and never empty. */
export const SOME_PART = '\uFFFC';
/** A value that is not known and may be empty. */
export const UNKNOWN_VALUE = '\uFFFD';

const SYSTEM_FOLDERS = [
  ...[
    'windows',
    'winnt',
    'program files',
    'program files (x86)',
    'programdata',
    'progra~1',
    'progra~2',
    'boot',
  ],
  ...['recovery', 'system volume information', 'efi'],
];
const USER_FOLDERS = ['users', 'documents and settings'];
const WINDOWS_FOLDERS = ['system32', 'syswow64', 'winsxs', 'system', 'boot', 'servicing'];
const SYSTEM32_FOLDERS = ['config', 'drivers', 'driverstore', 'catroot', 'boot'];

/** Longer paths are no protected place. */
const PATH_LENGTH_MAX = 1024;

const DEVICE_PREFIX = /^\\\\[.?]\\|^\\\?\?\\/;
const PROVIDER = /^(?:microsoft\.powershell\.core\\)?filesystem::/;
const ADMIN_SHARE = /^\\\\[^\\]+\\([a-z])\$(?=\\|$)/;
const VOLUME = /^(?:volume\{[^}]*\}|globalroot\\device\\harddiskvolume\d+|harddiskvolume\d+)/;

/**
 * What deleting this path with all below it would destroy, if it is a protected place: a drive, the Windows folder and
 * what it cannot start without, the folders of users. Win32 takes `/` for `\`, ignores case and dots and blanks at the
 * end of a name, and has `\\?\` and shares such as `C$` for the same places. A value that is not known counts as empty
 * where that leaves a whole drive: `%DIR%\*`.
 */
export function placeOfTarget(target: string, { folders, home }: WindowsGround): WindowsPlace | null {
  if (target.length > PATH_LENGTH_MAX) return null;
  const path = toBackslashes(target);
  const known = path.replaceAll(UNKNOWN_VALUE, '');
  if (known === '') return null;
  for (const parts of resolveParts(known, { folders, home })) {
    const place = placeOfParts(parts, home);
    const isPrefixed =
      path.startsWith(UNKNOWN_VALUE) && parts.filter((part) => !isEverything(part)).length > 0;
    if (place !== null && !isPrefixed) return place;
  }
  return null;
}

/** Whether a path is a disk or a volume to be written to as it is, past its file system. */
export function isRawDevice(target: string): boolean {
  const path = toBackslashes(target);
  return (
    /^\\\\[.?]\\(?:physicaldrive\d|harddisk\d|[a-z]:$|volume\{[^}]*\}$|harddiskvolume\d+$)/.test(path) ||
    /^(?:\\\\[.?]\\globalroot)?\\device\\harddisk/.test(path)
  );
}

/** Folders and a pattern below a drive: `C:\*.bak` is the root and `*.bak`. */
export function splitPattern(target: string): { folder: string; pattern: string } {
  const path = toBackslashes(target);
  const cut = path.lastIndexOf('\\');
  return cut === -1
    ? { folder: /^[a-z]:/.exec(path)?.[0] ?? '.', pattern: path.replace(/^[a-z]:/, '') }
    : { folder: path.slice(0, cut + 1), pattern: path.slice(cut + 1) };
}

function toBackslashes(target: string): string {
  return target.replaceAll('"', '').trim().toLowerCase().replaceAll('/', '\\');
}

/** Names below a drive, for each folder that the path may be relative to. */
function resolveParts(path: string, { folders, home }: WindowsGround): string[][] {
  const rooted = toRooted(path, home);
  if (rooted !== null) return [splitParts(rooted)];
  return folders.flatMap((folder) => {
    const base = folder === null ? null : toRooted(toBackslashes(folder), home);
    return base === null ? [] : [splitParts(`${base}\\${path}`)];
  });
}

/** The path without its drive; null for a relative one and for another machine's. */
function toRooted(given: string, home: string | null): string | null {
  const path = given.replace(PROVIDER, '').replace(ADMIN_SHARE, '$1:');
  if (path === '~' || path.startsWith('~\\')) {
    return toRooted(`${toBackslashes(home ?? `c:\\users\\${SOME_PART}`)}${path.slice(1)}`, null);
  }
  const isVerbatim = DEVICE_PREFIX.test(path);
  const bare = path.replace(DEVICE_PREFIX, '');
  const volume = isVerbatim ? VOLUME.exec(bare) : null;
  if (volume !== null) return bare.slice(volume[0].length);
  if (/^[a-z]:/.test(bare)) return bare.slice(2);
  if (/^\\(?:mnt|cygdrive)\\[a-z](?:\\|$)/.test(path)) return path.replace(/^\\[a-z]+\\[a-z]/, '');
  return path.startsWith('\\') && !path.startsWith('\\\\') ? path : path === '\\\\' ? '' : null;
}

function splitParts(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('\\')) {
    const name = /^\.+$/.test(part) ? part : part.replace(/[. ]{1,64}$/, '');
    if (name === '..') parts.pop();
    else if (name !== '' && name !== '.') parts.push(name);
  }
  return parts;
}

/** A pattern that takes every name in. */
function isEverything(part: string): boolean {
  return /^[*?.]+$/.test(part) && part.includes('*');
}

function placeOfParts(parts: readonly string[], home: string | null): WindowsPlace | null {
  const last = parts.at(-1);
  const emptied = last !== undefined && isEverything(last) ? parts.slice(0, -1) : parts;
  if (home !== null && isHome(emptied, home)) return 'home';
  const [first, second, third] = emptied;
  if (first === undefined) return 'root';
  if (emptied.length > 3) return null;
  if (second === undefined) {
    if (couldBeAny(first, SYSTEM_FOLDERS)) return 'root';
    return couldBeAny(first, USER_FOLDERS) ? 'home' : null;
  }
  if (couldBe(first, 'windows')) {
    if (third === undefined) return couldBeAny(second, WINDOWS_FOLDERS) ? 'root' : null;
    return couldBe(second, 'system32') && couldBeAny(third, SYSTEM32_FOLDERS) ? 'root' : null;
  }
  return third === undefined && couldBeAny(first, USER_FOLDERS) && second !== 'public' ? 'home' : null;
}

function isHome(parts: readonly string[], home: string): boolean {
  const own = splitParts(toRooted(toBackslashes(home), null) ?? '');
  return (
    own.length > 0 &&
    parts.length === own.length &&
    own.every((part, index) => couldBe(parts[index] ?? '', part))
  );
}

function couldBeAny(pattern: string, names: readonly string[]): boolean {
  return names.some((name) => couldBe(pattern, name));
}

/** Whether a pattern of `*`, `?` and bracket expressions takes a name in; one that is only `x*` short of it as well. */
function couldBe(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern === name;
  const units = pattern.replaceAll(/\[[^\]]{0,64}\]/g, '?');
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < name.length; ) {
    const unit = units[at];
    if (unit === '*') {
      star = at;
      resume = index;
      at += 1;
    } else if (unit === '?' || unit === name[index]) {
      at += 1;
      index += 1;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      resume += 1;
      index = resume;
    }
  }
  while (units[at] === '*') at += 1;
  return at === units.length;
}
