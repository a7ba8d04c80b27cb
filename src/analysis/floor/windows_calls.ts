import type { FloorRule } from './floor.ts';
import { ruleFor } from './windows_delete.ts';
import { isRawDevice, placeOfTarget, type WindowsGround } from './windows_paths.ts';
import { isVitalKey } from './windows_registry.ts';

/** Members that delete what their first argument names. */
const DELETE_CALL = /delete(?:folder|directory|file)?\s{0,16}\(\s{0,16}["']([^"']{0,1024})["']/g;
const SUBKEY_CALL =
  /(localmachine|currentuser|classesroot|users)[^;|]{0,64}deletesubkeytree\s{0,16}\(\s{0,16}["']([^"']{0,256})["']/g;
const STOP_CALL = /(?:win32shutdown|\breboot|\bshutdown|exitwindowsex)\s{0,16}\(/;
const WRITING = /write|openwrite|filestream|filemode|create|append/;
const QUOTED = /["']([^"']{1,256})["']/g;

const REGISTRY_MEMBERS: Record<string, string> = {
  localmachine: 'hklm',
  currentuser: 'hkcu',
  classesroot: 'hkcr',
  users: 'hku',
};

/** What method calls break as far as their text tells: `[IO.Directory]::Delete('C:\', $true)`. */
export function findCallRules(text: string, ground: WindowsGround): FloorRule[] {
  const lower = text.toLowerCase().replaceAll('`', '');
  const rules = new Set<FloorRule>();
  for (const [, path = ''] of lower.matchAll(DELETE_CALL)) {
    const place = placeOfTarget(path, ground);
    if (place !== null) rules.add(ruleFor(place));
  }
  for (const [, member = '', key = ''] of lower.matchAll(SUBKEY_CALL)) {
    if (isVitalKey(`${REGISTRY_MEMBERS[member] ?? ''}\\${key}`)) rules.add('registry-hive-deletion');
  }
  if (STOP_CALL.test(lower)) rules.add('shutdown');
  if (WRITING.test(lower) && [...lower.matchAll(QUOTED)].some(([, path = '']) => isRawDevice(path))) {
    rules.add('raw-device-write');
  }
  return [...rules];
}
