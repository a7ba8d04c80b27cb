import { commandName, withoutVersion } from './command_name.ts';
import { interpreterNamed } from './unwrap/interpreters.ts';
import { OPTION_RUNNERS } from './unwrap/open_option_runners.ts';
import { AWKS, FOREIGN_SHELLS, openerOf, SEDS, SHELLS } from './unwrap/openers.ts';

// Kinds of commands by the last component of a path, in any case, without `.exe` and the number of a version.

/** Whether this runs texts as commands: `sh`, `bash`, `pwsh`, `cmd`. */
export function isShell(path: string): boolean {
  const name = withoutVersion(commandName(path));
  return SHELLS.has(name) || FOREIGN_SHELLS.has(name);
}

/** Whether this runs programs that it is given: `python3.12`, `perl`, `awk`, `make`, `vim`. */
export function isInterpreter(path: string): boolean {
  const name = commandName(path);
  return interpreterNamed(name) !== undefined || AWKS.has(name) || OTHERS.has(name);
}

const OTHERS: ReadonlySet<string> = new Set(
  `make gmake ninja just rake ant mvn gradle npx bunx uvx docker podman nerdctl vi vim nvim view emacs ed ex gdb lldb
   m4 dc jshell java javaw ts-node tsx cscript wscript mshta rundll32 regsvr32 wmic msbuild installutil tmux screen
   crontab at batch systemd-run start-stop-daemon socat`.split(/\s+/),
);

/** Whether this runs the command in its arguments: `sudo`, `env`, `xargs`, `find`, `ssh`. */
export function isWrapper(path: string): boolean {
  const name = commandName(path);
  if (SEDS.has(name) || OPTION_RUNNERS.includes(name)) return false;
  if (isShell(path) || isInterpreter(path) || isMultiplexer(path)) return false;
  return openerOf(path, 'posix') !== undefined || openerOf(path, 'powershell') !== undefined;
}

/** Whether this is many commands in one: `busybox`. */
export function isMultiplexer(path: string): boolean {
  return /^(?:busybox|toybox|coreutils|sbase-box|ubase-box)/.test(commandName(path));
}
