import { couldBe, hasMark, SOME, takesEverything, UNKNOWN, WILD } from './marks.ts';

/** What recursive deletion of a path would destroy. */
export type Place = 'root' | 'system' | 'home';

/** What paths are judged against. */
export interface Ground {
  /** Working directories that the command may run in, as patterns; null for one that is not known. */
  folders: readonly (string | null)[];
  /** The caller's home, when the call states it. */
  home: string | null;
}

/** Top folders without which a machine does not start or does not know its users, of Linux, BSD and macOS. */
const SYSTEM_FOLDERS = [
  'bin',
  'boot',
  'dev',
  'efi',
  'etc',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'proc',
  'sbin',
  'sys',
  'usr',
  'var',
  'applications',
  'library',
  'private',
  'system',
] as const;
/** Where the folders of the users are. */
const HOME_FOLDERS = ['home', 'users'] as const;
const ROOT_HOME = 'root';

/** Folders below a top folder that are one with a system folder on most machines of today. */
const NESTED_SYSTEM: readonly (readonly [string, readonly string[]])[] = [
  ['usr', ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec']],
  ['private', ['etc', 'var']],
  ['system', ['library', 'volumes']],
];
const DRIVE = 'abcdefghijklmnopqrstuvwxyz';

/** Longest path, in folders, that is compared: what is deeper is no protected place. */
const DEPTH_MAX = 64;

/** `/proc/self`, in which `root` is the root of the file system. */
function isProcess([first, second = '', ...more]: readonly string[]): boolean {
  return first === 'proc' && /^(?:self|thread-self|\d+)$/.test(second) && more.length === 0;
}

/** Folder names from the root, `.` and `..` and repeated slashes resolved as text. */
export function splitAbsolute(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part === 'root' && isProcess(parts)) parts.length = 0;
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}

function couldBeAny(part: string, names: readonly string[]): boolean {
  return names.some((name) => couldBe(part, name));
}

function placeOfParts(parts: readonly string[]): Place | null {
  const [first, second] = parts;
  if (first === undefined) return 'root';
  if (second === undefined) return placeOfTop(first);
  if (parts.length > 2) return null;
  const isSystem = NESTED_SYSTEM.some(([top, below]) => couldBe(first, top) && couldBeAny(second, below));
  if (isSystem) return 'system';
  if (couldBeAny(first, HOME_FOLDERS)) return 'home';
  if (couldBe(first, 'var') && couldBe(second, ROOT_HOME)) return 'home';
  if (couldBeAny(first, ['mnt', 'cygdrive', 'volumes']) && couldBeAny(second, [...DRIVE])) return 'root';
  return null;
}

function placeOfTop(first: string): Place | null {
  // `/c` is the system drive in the POSIX layers of Windows, where `C:` may be written as well.
  if (/^[a-z]:$/.test(first) || first === 'c') return 'root';
  if (couldBeAny(first, SYSTEM_FOLDERS)) return 'system';
  return couldBeAny(first, [...HOME_FOLDERS, ROOT_HOME]) ? 'home' : null;
}

/** Whether these folders are the stated home or hold it. */
function holdsHome(parts: readonly string[], home: string | null): boolean {
  if (home === null || !home.startsWith('/')) return false;
  const own = splitAbsolute(home.toLowerCase());
  return parts.length <= own.length && parts.every((part, index) => couldBe(part, own[index] ?? ''));
}

function judgeAbsolute(path: string, home: string | null): Place | null {
  const parts = splitAbsolute(path.toLowerCase());
  const last = parts.at(-1);
  const emptied = last !== undefined && takesEverything(last) ? parts.slice(0, -1) : parts;
  if (parts.length > DEPTH_MAX) return null;
  for (const reading of [emptied, parts]) {
    const place = placeOfParts(reading);
    if (place !== null) return place;
    if (holdsHome(reading, home)) return 'home';
  }
  return null;
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:([\\/]|$)/.test(path);
}

/** Backslashes divide folders only after a drive letter. */
function toSlashes(path: string): string {
  return /^[A-Za-z]:\\/.test(path) ? path.replaceAll('\\', '/') : path;
}

/** A path from the root for each folder it may be relative to; nothing for a folder that is not known. */
export function resolvePath(pattern: string, folders: readonly (string | null)[]): string[] {
  const path = toSlashes(pattern);
  if (isAbsolute(path)) return [path];
  return folders.flatMap((folder) => (folder === null ? [] : [`${folder}/${path}`]));
}

/**
 * What deleting this path with all below it would destroy, if it could be a protected place: in any spelling, through
 * any glob, from any folder that the command may run in. A variable that is not known counts as what it is when nobody
 * has set it: `$DIR/*` is `/*`; alone, it is then no operand at all. Before the name of a system folder it is taken for
 * a prefix: `$DESTDIR/usr` is nothing.
 */
export function placeOf(pattern: string, { folders, home }: Ground): Place | null {
  if (pattern.includes(WILD)) return 'root';
  const path = pattern.replaceAll(UNKNOWN, '');
  if (path === '') return null;
  const startsUnknown = pattern.startsWith(UNKNOWN);
  for (const resolved of resolvePath(path, folders)) {
    const place = judgeAbsolute(resolved, home);
    if (place !== null && (!startsUnknown || place === 'root')) return place;
  }
  return null;
}

/** Block devices, memory and raw disks, one name of each kind. */
const DEVICES = [
  'sda',
  'sda1',
  'hda',
  'hda1',
  'vda',
  'vda1',
  'xvda',
  'xvda1',
  'nvme0',
  'nvme0n1',
  'nvme0n1p1',
  'mmcblk0',
  'mmcblk0p1',
  'md0',
  'md127',
  'dm-0',
  'nbd0',
  'mtd0',
  'mtdblock0',
  'pmem0',
  'disk0',
  'disk0s1',
  'rdisk0',
  'ada0',
  'da0',
  'mem',
  'kmem',
  'port',
  'root',
] as const;
const DEVICE_FOLDERS = ['disk', 'mapper', 'block', 'zvol', 'md', 'dsk', 'rdsk', 'vg'] as const;
const DEVICE_NAME =
  /^((s|h|v|xv)d[a-z]{1,3}\d*|nvme\d+(n\d+(p\d+)?)?|mmcblk\d+(p\d+|boot\d+)?|(md|dm-|nbd|mtd|mtdblock|pmem|ada|da)\d+(p\d+)?|r?disk\d+(s\d+)*|k?mem|port|root)$/;

function isDeviceName(name: string): boolean {
  return hasMark(name) ? couldBeAny(name, DEVICES) : DEVICE_NAME.test(name);
}

/** Whether a path could be a disk, a partition or a machine's memory, as a file to write to. */
export function couldBeRawDevice(pattern: string, { folders }: Ground): boolean {
  if (/^[\\/]{2}[.?][\\/](physicaldrive\d|[a-z]:$)/i.test(pattern)) return true;
  return resolvePath(pattern, folders).some((resolved) => {
    const [top, ...below] = splitAbsolute(resolved.toLowerCase());
    const [name, nested] = below;
    if (top !== 'dev' || name === undefined) return top === 'proc' && name === 'kcore';
    if (nested === undefined) return isDeviceName(name);
    return nested !== 'control' && couldBeAny(name, DEVICE_FOLDERS);
  });
}

/** Whether a path is the kernel's switch for rebooting and halting at once. */
export function isSysrqTrigger(pattern: string, { folders }: Ground): boolean {
  return resolvePath(pattern, folders).some(
    (resolved) => splitAbsolute(resolved).join('/') === 'proc/sysrq-trigger',
  );
}

/** Whether a word is nothing but a value that is not known. */
export function isUnknownAlone(pattern: string): boolean {
  return pattern.length > 0 && [...pattern].every((unit) => unit === UNKNOWN || unit === SOME);
}
