import type { WindowsRule } from './windows_command.ts';

/** Stop, restart, power off and hibernate; `/a` takes it back, `/l` only logs off, `/i` and `/?` show something. */
const STOPPING = /^[/-](?:s|r|p|g|sg|h|fw)$/i;
const HARMLESS = /^[/-](?:a|\?)$/i;

/** What stops the machine, or every process on it. */
export const powerRule: WindowsRule = ({ name, args, lister, isFiltered }) => {
  switch (name) {
    case 'shutdown':
      return args.some((arg) => STOPPING.test(arg)) && !args.some((arg) => HARMLESS.test(arg))
        ? 'shutdown'
        : null;
    case 'stop-computer':
    case 'restart-computer':
      return 'shutdown';
    case 'wmic':
      return args.some((arg) => /^(?:win32)?(?:shutdown|reboot)$/i.test(arg)) ? 'shutdown' : null;
    case 'taskkill':
      return killsEverything(args) ? 'kill-everything' : null;
    case 'stop-process':
    case 'spps':
    case 'kill':
      return args.includes('*') || (!isFiltered && isListOfAll(lister)) ? 'kill-everything' : null;
    default:
      return null;
  }
};

function killsEverything(args: readonly string[]): boolean {
  return args.some((arg, index) => /^[/-]im$/i.test(args[index - 1] ?? '') && /^\*+$/.test(arg));
}

function isListOfAll(lister: Parameters<WindowsRule>[0]['lister']): boolean {
  return (
    lister !== null && /^(?:get-process|gps|ps)$/.test(lister.name) && lister.args.every((arg) => arg === '*')
  );
}
