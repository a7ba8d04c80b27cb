import type { Command } from './command.ts';
import { hasRules } from './rules_by_name.ts';

const SHELL = /^(ba|da|a|z|k|mk|pdk|c|tc|fi|ya|r|rba)?sh[\d.]*$/;
/** Tools that hand the text after an option to a shell. */
const BY_OPTION: Readonly<Record<string, RegExp>> = {
  su: /^(-[a-zA-Z]*c|--command|--session-command)$/,
  runuser: /^(-[a-zA-Z]*c|--command|--session-command)$/,
  script: /^(-[a-zA-Z]*c|--command)$/,
  flock: /^(-[a-zA-Z]*c|--command)$/,
  sg: /^-c$/,
  npx: /^(-c|--call)$/,
  npm: /^(-c|--call)$/,
  nix: /^(-c|--command)$/,
  'nix-shell': /^--(run|command)$/,
  env: /^(-[a-z0]*S|--split-string)$/,
};
/** Tools that hand all their operands, joined, to a shell. */
const JOINED = new Set(['eval', 'watch', 'parallel', 'entr', 'tmux', 'screen', 'hyperfine']);
/** Tools that read a script from a pipe. */
const FROM_INPUT = new Set(['at', 'batch', 'parallel', 'source', '.']);
/** Tools of which one operand, or each of a form, is a script. */
const BY_PLACE = new Set(['trap', 'ssh', 'rsh', 'git']);

/** Whether a command of this name, which is no shell, takes shell text in its words or from a pipe. */
export function takesScript(name: string): boolean {
  return JOINED.has(name) || FROM_INPUT.has(name) || BY_PLACE.has(name) || Object.hasOwn(BY_OPTION, name);
}

/** Whether a command of this name, which is no shell, runs what it reads from a pipe, or something with it. */
export function readsScript(name: string): boolean {
  return FROM_INPUT.has(name) || name === 'xargs';
}

const SSH_WITH_VALUE = /^-[BbcDEeFIiJLlmOopQRSWw]$/;

/** Whether a name is a shell's. */
export function isShell(name: string): boolean {
  return SHELL.test(name);
}

function afterOption(args: readonly string[], option: RegExp): string[] {
  const at = args.findIndex((arg) => option.test(arg));
  const joined = args.flatMap((arg) => {
    const [, name = '', value] = /^(--[a-z-]+)=([\s\S]*)$/.exec(arg) ?? [];
    return value !== undefined && option.test(name) ? [value] : [];
  });
  return [...(at === -1 ? [] : args.slice(at + 1, at + 2)), ...joined];
}

/** The command that `ssh` hands to the other machine's shell: all that follows the host. */
function remoteScript(args: readonly string[]): string[] {
  let at = 0;
  while (args[at]?.startsWith('-')) at += SSH_WITH_VALUE.test(args[at] ?? '') ? 2 : 1;
  const rest = args.slice(at + 1).join(' ');
  return rest === '' ? [] : [rest];
}

function shellScripts(args: readonly string[], input: string | null): string[] {
  const given = afterOption(args, /^-[a-zA-Z]*c$/);
  if (given.length > 0) return given;
  const operands = args.filter((arg) => !/^[-+]/.test(arg));
  const readsInput =
    operands.length === 0 || args.some((arg) => /^-[a-z]*s/.test(arg)) || operands[0] === '/dev/stdin';
  return readsInput && input !== null ? [input] : [];
}

/** Shell text that a command would run: in an argument, or read from a pipe or a here-document. */
export function scriptsOf({ name, args, input }: Command): string[] {
  if (isShell(name)) return shellScripts(args, input);
  const option = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name] : undefined;
  const scripts = option === undefined ? [] : afterOption(args, option);
  if (JOINED.has(name))
    scripts.push(args.filter((arg, index) => index > 0 || !arg.startsWith('-')).join(' '));
  if (name === 'trap') scripts.push(...args.slice(0, 1));
  if (name === 'ssh' || name === 'rsh') scripts.push(...remoteScript(args));
  if (name === 'git') {
    scripts.push(...args.flatMap((arg) => /^alias\.[\w-]+=!([\s\S]*)$/.exec(arg)?.[1] ?? []));
  }
  if (FROM_INPUT.has(name) && input !== null) scripts.push(input);
  return scripts;
}

/** Tools that run the command that stands among their operands. */
const RUNNERS = new Set([
  ...[
    'sudo',
    'doas',
    'env',
    'nohup',
    'setsid',
    'timeout',
    'nice',
    'ionice',
    'time',
    'xargs',
    'exec',
    'command',
  ],
  ...[
    'builtin',
    'stdbuf',
    'unbuffer',
    'chroot',
    'unshare',
    'nsenter',
    'systemd-run',
    'systemd-inhibit',
    'strace',
  ],
  ...[
    'ltrace',
    'gdb',
    'valgrind',
    'firejail',
    'bwrap',
    'proot',
    'fakeroot',
    'caffeinate',
    'rlwrap',
    'taskset',
  ],
  ...[
    'chrt',
    'cpulimit',
    'numactl',
    'prlimit',
    'setarch',
    'linux32',
    'linux64',
    'start-stop-daemon',
    'pkexec',
  ],
  ...[
    'xvfb-run',
    'dbus-run-session',
    'proxychains',
    'proxychains4',
    'torsocks',
    'torify',
    'busybox',
    'toybox',
  ],
  ...[
    'parallel',
    'watch',
    'entr',
    'setpriv',
    'capsh',
    'runuser',
    'su',
    'gosu',
    'su-exec',
    'ssh-agent',
    'flock',
  ],
  ...[
    'chpst',
    'softlimit',
    'setuidgid',
    'with-contenv',
    'dumb-init',
    'tini',
    'noglob',
    'nocorrect',
    'fd',
    'fdfind',
  ],
  ...['find', 'script', 'tmux', 'screen', 'at', 'batch', 'sem', 'daemonize', 'wsl'],
  ...`run0 sshpass perf ip machinectl systemd-nspawn systemd-cat snap flatpak-spawn toolbox distrobox cmake sg runcon
    aa-exec cgexec faketime eatmydata dbus-launch s6-setuidgid ifne chronic lckdo daemon schroot xterm`.split(
    /\s+/,
  ),
]);

export function isRunner(name: string): boolean {
  return RUNNERS.has(name);
}

/** Runners that take a folder, a user or a lock before the command. */
const TAKES_ONE = new Set([
  'chroot',
  'gosu',
  'su-exec',
  'setuidgid',
  'chpst',
  'flock',
  'taskset',
  'chrt',
  'sem',
]);

/** Runners that take a verb, and a place or two, before the command. */
const TAKES_SOME = new Set([
  'perf',
  'ip',
  'machinectl',
  'snap',
  'toolbox',
  'distrobox',
  'cmake',
  'runcon',
  'faketime',
]);
const SOME_OPERANDS = 3;

/**
 * Where among its words the command stands that a runner runs: the first that is no option, no assignment, number or
 * path, and may not be an option's value. Whether an option takes a value is not known here, so a word after one is
 * taken for the command only if rules are kept for it.
 */
export function findRunCommand({ name, args }: Command): number {
  let operandsLeft = TAKES_ONE.has(name) ? 1 : TAKES_SOME.has(name) ? SOME_OPERANDS : 0;
  for (const [at, arg] of args.entries()) {
    const base = arg.slice(arg.lastIndexOf('/') + 1);
    if (hasRules(base) || isShell(base)) return at;
    const mayBeValue = args[at - 1]?.startsWith('-') === true && args[at - 1] !== '--';
    if (arg.startsWith('-') || mayBeValue || /^\d|[=/]/.test(arg) || isRunner(arg)) continue;
    if (operandsLeft === 0) return args.length;
    operandsLeft -= 1;
  }
  return args.length;
}
