import type { CommandCall } from '../../core/command_call.ts';
import type { CommandAnalysis, Segment } from '../command/analysis.ts';
import type { FloorHit, FloorRule } from './floor.ts';
import { findCallRules } from './windows_calls.ts';
import type { WindowsCommand, WindowsRule } from './windows_command.ts';
import { isPrinter, listWindowsCommands } from './windows_commands.ts';
import { deleteRule, forfilesRule, mirrorRule } from './windows_delete.ts';
import { deviceRule, erasesDisk, formatRule } from './windows_disk.ts';
import { powerRule } from './windows_power.ts';
import { type Reading, readAsWindows } from './windows_readings.ts';
import { namesShadowCopies, recoveryRule } from './windows_recovery.ts';
import { registryRule } from './windows_registry.ts';
import { beginScope } from './windows_values.ts';

const RULES: readonly WindowsRule[] = [
  deleteRule,
  mirrorRule,
  forfilesRule,
  formatRule,
  deviceRule,
  recoveryRule,
  registryRule,
  powerRule,
];

/**
 * What a command would do that destroys a Windows machine, in `cmd`, in PowerShell and behind their wrappers: deletion
 * of a drive, of the Windows folder or of a user's home with all below it, formatting, writing past a file system,
 * deletion of shadow copies and backups and what turns recovery off, deletion of a registry hive, stopping the machine.
 * Judged by the working directory and environment of the call. Deletion of any other folder, opening a document or a
 * URL and the like are for policy and for people. Pure and total; time linear in the length of the command. No hit does
 * not mean harmless.
 */
export function findWindowsFloor(call: CommandCall, analysis: CommandAnalysis): FloorHit[] {
  const hits = new Map<string, FloorHit>();
  for (const reading of readAsWindows(call, analysis)) {
    for (const hit of judgeReading(call, reading)) hits.set(`${hit.rule}\n${hit.text}`, hit);
  }
  return [...hits.values()];
}

/** What `cmd` has no command for; PowerShell's reading has it. */
const CMDLET = /^[a-z]+-[a-z]+$/;

function judgeReading(call: CommandCall, reading: Reading): FloorHit[] {
  const { segments, judged, isDoubtful, posixDeletions } = reading;
  const all = listWindowsCommands(segments, beginScope(call), isDoubtful);
  const commands = all.filter(
    ({ segment, name }) => judged.has(segment) && (segment.language !== 'cmd' || !CMDLET.test(name)),
  );
  return [
    ...commands.flatMap((command) => hitsOf(command, rulesOf(command, posixDeletions))),
    ...findDiskScripts(commands, all),
    ...findShadowCalls(commands, segments),
    ...findForkBombs(commands),
  ];
}

function rulesOf(command: WindowsCommand, posixDeletions: ReadonlySet<string>): FloorRule[] {
  const { segment, scope } = command;
  const own = posixDeletions.has(segment.text) ? RULES.filter((rule) => rule !== deleteRule) : RULES;
  const rules = own.flatMap((rule) => rule(command) ?? []);
  const mayCall = segment.language === 'powershell' && segment.text.includes('(');
  return mayCall ? [...rules, ...findCallRules(segment.text, scope)] : rules;
}

function hitsOf({ segment }: WindowsCommand, rules: readonly FloorRule[]): FloorHit[] {
  return rules.map((rule) => ({ rule, text: segment.text }));
}

/** `diskpart` and `diskshadow` read a script; what is printed beside them may be it. */
function findDiskScripts(commands: readonly WindowsCommand[], all: readonly WindowsCommand[]): FloorHit[] {
  const readers = commands.filter(({ name }) => name === 'diskpart' || name === 'diskshadow');
  if (readers.length === 0) return [];
  const printed = all.filter(isPrinter).map(({ segment }) => segment.text);
  return readers.flatMap((reader) => {
    const bodies = reader.segment.redirections.flatMap(({ body }) => body ?? []);
    const scripts = [...printed, ...bodies].map((text) => text.replaceAll(/[\^`]/g, ''));
    if (reader.name === 'diskpart' && scripts.some(erasesDisk)) return hitsOf(reader, ['format-filesystem']);
    const isShadow = scripts.some((script) => /delete\s+shadows/i.test(script));
    return reader.name === 'diskshadow' && isShadow ? hitsOf(reader, ['shadow-copy-destruction']) : [];
  });
}

const DELETES_OBJECT =
  /\.\s{0,16}delete\s{0,16}\(|\b(?:remove-wmiobject|rwmi|remove-ciminstance|rcim)\b|invoke-(?:cim|wmi)method/i;

/** Shadow copies that one command finds and another, or a method, deletes. */
function findShadowCalls(commands: readonly WindowsCommand[], all: readonly Segment[]): FloorHit[] {
  const finders = commands.filter(({ segment, args, name }) => {
    return (segment.language === 'powershell' || name === '') && namesShadowCopies(args);
  });
  if (finders.length === 0) return [];
  const deletes = all.some(({ text }) => DELETES_OBJECT.test(text.replaceAll(/[`"']/g, '')));
  return deletes ? finders.flatMap((finder) => hitsOf(finder, ['shadow-copy-destruction'])) : [];
}

/** A batch file that starts itself, without waiting for it. */
function findForkBombs(commands: readonly WindowsCommand[]): FloorHit[] {
  return commands.flatMap((command) => {
    const [piece] = command.segment.words[0]?.pieces ?? [];
    const isItself = piece?.kind === 'variable' && piece.name === '0' && command.segment.language === 'cmd';
    const isApart = command.segment.operator === '|' || /^start\b/i.test(command.segment.text);
    return isItself && isApart ? hitsOf(command, ['fork-bomb']) : [];
  });
}
