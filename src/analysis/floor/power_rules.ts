import { asksForHelp, type Rule, splitOptions } from './command.ts';
import { isSysrqTrigger } from './protected_paths.ts';

/** `shutdown` in any form but taking one back. */
export const shutdownRule: Rule = ({ args }) => {
  const isTakenBack = args.some((arg) => /^[-/][ca]$|^--cancel$|^--show$/.test(arg));
  return isTakenBack || asksForHelp(args) ? null : 'shutdown';
};

/** `reboot`, `halt`, `poweroff`: with `-w` they write a log entry and do no more. */
export const rebootRule: Rule = ({ args }) =>
  asksForHelp(args) || args.some((arg) => /^(-w|--wtmp-only)$/.test(arg)) ? null : 'shutdown';

/** `init` and `telinit` into a level in which nothing runs on. */
export const runLevelRule: Rule = ({ args }) =>
  args.some((arg) => /^([016sS]|single|emergency|rescue)$/.test(arg)) ? 'shutdown' : null;

const STOPS = /^(poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue)$/;
const STOPPED_TARGET =
  /^(poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue|shutdown|runlevel[016])\.target$/;

/** `systemctl` and `loginctl`: the verbs that end the machine, and the targets that do. */
export const systemctlRule: Rule = ({ args }) => {
  if (asksForHelp(args)) return null;
  const { operands } = splitOptions(args);
  const [verb = '', ...units] = operands.filter((operand) => !/^[a-z]+=/.test(operand));
  const isVerb = STOPS.test(verb) || (STOPS.test(units[0] ?? '') && args.some((arg) => /^-[HM]$/.test(arg)));
  const starts = /^(isolate|start|restart)$/.test(verb) && units.some((unit) => STOPPED_TARGET.test(unit));
  return isVerb || starts ? 'shutdown' : null;
};

/** The login manager by way of the message bus. */
export const messageBusRule: Rule = ({ args }) =>
  args.some((arg) => /\.Manager\.(PowerOff|Reboot|Halt|KExec)$/.test(arg)) ||
  (args.some((arg) => arg.includes('login1')) &&
    args.some((arg) => /^(PowerOff|Reboot|Halt|KExec)$/.test(arg)))
    ? 'shutdown'
    : null;

/** `kexec -e` starts another kernel at once. */
export const kexecRule: Rule = ({ args }) =>
  args.some((arg) => /^(-e|-f|--exec|--force)$/.test(arg)) ? 'shutdown' : null;

/** Whether a command writes to what reboots a machine at once. */
export const sysrqRule: Rule = ({ args, ground }) =>
  args.some((arg) => isSysrqTrigger(arg.replace(/^of=/, ''), ground)) ? 'shutdown' : null;

const SIGNAL_OPTION = /^-(s|n|q)$|^--(signal|queue|timeout)$/;

/**
 * `kill` of process −1, which is every process (POSIX XSH kill). A first `-1` is a signal if another operand follows;
 * alone it is taken for the process, as some shells do.
 */
export const killRule: Rule = ({ args }) => {
  const [first] = args;
  if (first === undefined || /^(-[lL].*|--list.*|--table)$/.test(first)) return null;
  const pids: string[] = [];
  let sendsNothing = false;
  let hasSignal = false;
  let ended = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (ended) pids.push(arg);
    else if (arg === '--') ended = true;
    else if (SIGNAL_OPTION.test(arg)) {
      at += 1;
      hasSignal = true;
      sendsNothing ||= args[at] === '0';
    } else if (arg.startsWith('--signal=') || /^-[sn]./.test(arg)) hasSignal = true;
    else if (arg.startsWith('-') && !hasSignal && args.length > 1) {
      hasSignal = true;
      sendsNothing ||= arg === '-0';
    } else pids.push(arg);
  }
  return !sendsNothing && pids.some((pid) => /^-0*1$/.test(pid)) ? 'kill-everything' : null;
};

/** `killall5` signals every process outside its session. */
export const killAllRule: Rule = ({ args }) =>
  asksForHelp(args) || args.includes('-0') ? null : 'kill-everything';

const NARROWS = /^-([uUPgGstcTFA]|-(uid|euid|parent|pgroup|group|session|terminal|cgroup|pidfile|ns))/;

/** `pkill` and `killall -r` by a pattern that every name has, with nothing else that chooses among them. */
export const patternKillRule: Rule = ({ name, args }) => {
  if (name === 'killall' && !args.some((arg) => /^-[a-z]*r|^--regexp/.test(arg))) return null;
  if (args.some((arg) => NARROWS.test(arg) || arg === '-0')) return null;
  const { operands } = splitOptions(args);
  return operands.some((operand) => /^\^?(\.[*+]?|\(\.\*\)|\[\^?.{0,2}\][*+]?)?\$?$/.test(operand))
    ? 'kill-everything'
    : null;
};
