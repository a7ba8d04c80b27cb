import type { CommandLanguage } from '../analysis.ts';
import { commandName, withoutVersion } from '../command_name.ts';
import { interpreterNamed } from './interpreters.ts';
import { openAwk } from './open_awk.ts';
import {
  HIDING_BUILTINS,
  openAlias,
  openEval,
  openHidingBuiltin,
  openSource,
  openTrap,
} from './open_builtins.ts';
import { openFind } from './open_find.ts';
import { openInterpreter } from './open_interpreters.ts';
import { openMake } from './open_make.ts';
import { OPTION_RUNNERS, openOptionRunner } from './open_option_runners.ts';
import { openSed } from './open_sed.ts';
import { openForeignShell, openShell } from './open_shell.ts';
import {
  openDeferred,
  openFlock,
  openParallel,
  openScript,
  openSsh,
  openSu,
  openWatch,
} from './open_text_runners.ts';
import { openCmd, openForfiles, openPowerShell, openStartProcess, openWsl } from './open_windows.ts';
import { openEnv, openTimeout, openWrapper } from './open_wrapper.ts';
import { openXargs } from './open_xargs.ts';
import { optionSpec } from './options.ts';
import { hidden, type Opener } from './outcome.ts';
import { literalWord } from './word_tools.ts';
import { WRAPPER_TABLE } from './wrapper_table.ts';

export const SHELLS: ReadonlySet<string> = new Set(
  `sh bash dash ash zsh ksh ksh93 mksh lksh pdksh oksh yash posh rbash rzsh hush -sh -bash -zsh`.split(' '),
);
/** Shells whose language is another: their texts are not read. */
export const FOREIGN_SHELLS: ReadonlySet<string> = new Set(
  'fish csh tcsh nu xonsh elvish rc es pwsh powershell cmd powershell_ise'.split(' '),
);
export const AWKS: ReadonlySet<string> = new Set('awk gawk mawk nawk original-awk bwk'.split(' '));
export const SEDS: ReadonlySet<string> = new Set(['sed', 'gsed', 'ssed']);

const POSIX_OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ...[...WRAPPER_TABLE].map(([name, spec]): [string, Opener] => [name, openWrapper(spec)]),
  ...[...SHELLS].map((name): [string, Opener] => [name, openShell]),
  ...[...AWKS].map((name): [string, Opener] => [name, openAwk]),
  ...[...SEDS].map((name): [string, Opener] => [name, openSed]),
  ...HIDING_BUILTINS.map((name): [string, Opener] => [name, openHidingBuiltin]),
  ...OPTION_RUNNERS.map((name): [string, Opener] => [name, openOptionRunner]),
  ['make', openMake],
  ['gmake', openMake],
  ['env', openEnv],
  ['timeout', openTimeout],
  ['xargs', openXargs],
  ['find', openFind],
  ['eval', openEval],
  ['.', openSource],
  ['source', openSource],
  ['trap', openTrap],
  ['alias', openAlias],
  ['watch', openWatch],
  ['ssh', openSsh],
  ['su', openSu],
  ['runuser', openSu],
  ['script', openScript],
  ['flock', openFlock],
  ['parallel', openParallel],
  ['at', openDeferred],
  ['batch', openDeferred],
]);

const WINDOWS_OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ['powershell', openPowerShell(false)],
  ['pwsh', openPowerShell(true)],
  ['cmd', openCmd],
  ['forfiles', openForfiles],
  ['wsl', openWsl],
]);

const POWERSHELL_OPENERS: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ['start-process', openStartProcess],
  ['saps', openStartProcess],
  ['start', openStartProcess],
]);

/** Names that mean something else in each language. */
const NOT_IN_CMD = new Set(['timeout', 'find', 'time', 'at', 'alias', '.', 'exec', 'script', 'command', '-']);
const NOT_IN_POWERSHELL = new Set([
  'alias',
  'exec',
  'time',
  'command',
  'trap',
  '-',
  'repeat',
  'eval',
  'source',
]);
/** The prefix that the tools of GNU have beside others. */
const GNU = /^g(?=(?:timeout|env|nice|nohup|stdbuf|xargs|find|chroot|time)$)/;

/** How a command is opened; undefined for one that runs no other. */
export function openerOf(path: string, language: CommandLanguage): Opener | undefined {
  const name = commandName(path)
    .replace(GNU, '')
    .replace(/^busybox.+/, 'busybox');
  if (language === 'powershell') {
    const own = POWERSHELL_OPENERS.get(name);
    if (own !== undefined) return own;
  }
  const isElsewhere =
    (language === 'cmd' && NOT_IN_CMD.has(name)) ||
    (language === 'powershell' && NOT_IN_POWERSHELL.has(name));
  const common = isElsewhere ? undefined : POSIX_OPENERS.get(name);
  const opener = common ?? WINDOWS_OPENERS.get(name);
  if (opener !== undefined) return opener;
  if (SHELLS.has(withoutVersion(name))) return openShell;
  if (name.startsWith('-')) return openDashed;
  if (FOREIGN_SHELLS.has(name)) return openForeignShell;
  if (interpreterNamed(name) !== undefined) return openInterpreter;
  return LOADER.test(name) ? openWrapper(LOADER_SPEC) : undefined;
}

/** bash takes `time` for a reserved word and an option after it for the command; other shells run `time`. */
const openDashed: Opener = (opening) => {
  const words = [literalWord('time'), ...opening.words];
  return [
    hidden('shells read `time` with options differently'),
    ...(POSIX_OPENERS.get('time')?.({ ...opening, words }) ?? []),
  ];
};

/** The loader of Linux runs the program that it is given. */
const LOADER = /^ld(?:-linux|-musl)?[\w-]*\.so(?:\.\d+)*$/;
const LOADER_SPEC = {
  options: optionSpec(
    '',
    'library-path= preload= audit= argv0= inhibit-cache inhibit-rpath= verify list glibc-hwcaps-mask=',
  ),
  operands: 0,
  takesAssignments: false,
  runsNothing: ['verify', 'list'],
  startsShell: [],
  hasDefaultShell: false,
};
