import { isParameter, readParameter, type WindowsRule } from './windows_command.ts';

const HIVES: Record<string, string> = {
  hkey_local_machine: 'hklm',
  hkey_current_user: 'hkcu',
  hkey_classes_root: 'hkcr',
  hkey_users: 'hku',
  hkey_current_config: 'hkcc',
  hklm: 'hklm',
  hkcu: 'hkcu',
  hkcr: 'hkcr',
  hku: 'hku',
  hkcc: 'hkcc',
};

/** Keys without which Windows or an account does not start, and every key above one of them. */
const VITAL_KEYS = [
  ...[
    'hklm\\system\\currentcontrolset\\services',
    'hklm\\system\\currentcontrolset\\control',
    'hklm\\sam\\sam',
  ],
  ...[
    'hklm\\system\\currentcontrolset\\enum',
    'hklm\\system\\controlset001\\services',
    'hklm\\security\\policy',
  ],
  ...['hklm\\system\\controlset001\\control', 'hklm\\system\\setup', 'hklm\\system\\mounteddevices'],
  ...['hklm\\software\\microsoft\\windows\\currentversion', 'hklm\\software\\classes', 'hklm\\bcd00000000'],
  ...[
    'hklm\\software\\microsoft\\windows nt\\currentversion\\winlogon',
    'hklm\\hardware',
    'hklm\\components',
  ],
  ...[
    'hklm\\software\\wow6432node',
    'hklm\\software\\policies',
    'hkcu\\software\\microsoft\\windows\\currentversion',
  ],
  ...['hkcr\\clsid', 'hkcr\\interface', 'hku\\.default', 'hku\\s-1-5-18', 'hkcc\\system', 'hkcc\\software'],
];

const PROVIDER = /^(?:microsoft\.powershell\.core\\)?registry::/;

/** A registry path with its hive in short, no drive colon, machine name or wildcard at its end; null for none. */
function toKey(path: string): string | null {
  const [first = '', ...below] = path
    .toLowerCase()
    .replaceAll('/', '\\')
    .replaceAll('"', '')
    .replace(PROVIDER, '')
    .replace(/^\\\\[^\\]+\\/, '')
    .split('\\')
    .filter((part) => part !== '');
  const hive = HIVES[first.replace(/:$/, '')];
  if (hive === undefined) return null;
  const parts = below.at(-1) === '*' ? below.slice(0, -1) : below;
  return [hive, ...parts].join('\\');
}

/** Whether deleting this key takes a hive, or what a machine cannot start without, with it. */
export function isVitalKey(path: string): boolean {
  const key = toKey(path);
  return key !== null && VITAL_KEYS.some((vital) => vital === key || vital.startsWith(`${key}\\`));
}

const POWERSHELL_DELETERS = new Set(['remove-item', 'ri', 'rm', 'del', 'erase', 'rd', 'rmdir']);

/** `reg delete` of a whole key, and `Remove-Item -Recurse` of one. */
export const registryRule: WindowsRule = ({ name, args, lister, isFiltered }) => {
  if (name === 'reg') {
    const isWhole = !args.some((arg) => /^[/-]v(?:e|a)?$/i.test(arg));
    return args[0]?.toLowerCase() === 'delete' && isWhole && isVitalKey(args[1] ?? '')
      ? 'registry-hive-deletion'
      : null;
  }
  if (!POWERSHELL_DELETERS.has(name)) return null;
  const listed = isFiltered ? [] : (lister?.args ?? []);
  const isRecursive = [...args, ...listed].some((arg) =>
    isParameter(readParameter(arg)?.name ?? '', 'recurse', 1),
  );
  const paths = [...args, ...listed].flatMap((arg) => [arg, readParameter(arg)?.value ?? '']);
  return isRecursive && paths.some(isVitalKey) ? 'registry-hive-deletion' : null;
};
