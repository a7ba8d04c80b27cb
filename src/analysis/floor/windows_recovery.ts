import type { WindowsRule } from './windows_command.ts';

function lower(args: readonly string[]): string[] {
  return args.map((arg) => arg.toLowerCase());
}

const SHADOW_CLASS = /win32_shadowcopy|win32_shadowstorage/;
const REMOVERS = new Set(['remove-wmiobject', 'rwmi', 'remove-ciminstance', 'rcim']);

/** Whether arguments name the class of shadow copies, as a word or in a query. */
export function namesShadowCopies(args: readonly string[]): boolean {
  return lower(args).some((arg) => SHADOW_CLASS.test(arg));
}

/** Deletion of shadow copies and backups, and what turns off starting from them. */
export const recoveryRule: WindowsRule = ({ name, args, lister }) => {
  const words = lower(args);
  return breaksRecovery(name, words) ||
    (REMOVERS.has(name) && [args, lister?.args ?? []].some(namesShadowCopies))
    ? 'shadow-copy-destruction'
    : null;
};

function breaksRecovery(name: string, words: readonly string[]): boolean {
  const [verb, object] = words;
  switch (name) {
    case 'vssadmin':
      return (verb === 'delete' && object === 'shadows') || (verb === 'resize' && object === 'shadowstorage');
    case 'diskshadow':
      return words.join(' ').includes('delete shadows');
    case 'wmic':
      return (
        words.some((word) => word === 'shadowcopy' || SHADOW_CLASS.test(word)) && words.includes('delete')
      );
    case 'wbadmin':
      return verb === 'delete' && /^(?:catalog|systemstatebackup|backup)$/.test(object ?? '');
    case 'bcdedit':
      return disablesBootRecovery(words);
    case 'reg':
      return verb === 'add' && disablesRestore(words);
    case 'disable-computerrestore':
      return true;
    case 'reagentc':
      return words.some((word) => word === '/disable' || word === '-disable');
    default:
      return false;
  }
}

function disablesBootRecovery(words: readonly string[]): boolean {
  const isSet = words.some((word) => word === '/set' || word === '-set');
  const recovery = words[words.indexOf('recoveryenabled') + 1];
  const status = words[words.indexOf('bootstatuspolicy') + 1];
  const isOff = words.includes('recoveryenabled') && /^(?:no|off|0|false)$/.test(recovery ?? '');
  return isSet && (isOff || (words.includes('bootstatuspolicy') && status === 'ignoreallfailures'));
}

function disablesRestore(words: readonly string[]): boolean {
  const isKey = words.some((word) => word.endsWith('\\systemrestore'));
  const data = words[words.findIndex((word) => word === '/d' || word === '-d') + 1];
  return isKey && words.some((word) => word === 'disablesr' || word === 'disableconfig') && data !== '0';
}
