import type { Command, Rule } from './command.ts';
import * as remove from './delete_rules.ts';
import * as device from './device_rules.ts';
import { findRule } from './find_rule.ts';
import type { FloorRule } from './floor.ts';
import { couldBe, isOpenName } from './marks.ts';
import * as power from './power_rules.ts';

const RULES: ReadonlyMap<string, readonly Rule[]> = new Map<string, readonly Rule[]>([
  ['rm', [remove.removeRule]],
  ['srm', [remove.removeRule]],
  ['rimraf', [remove.wholeFolderRule]],
  ['trash', [remove.wholeFolderRule]],
  ['unlink', [remove.everyFileRule]],
  ['wipe', [remove.removeRule, device.writesOperandsRule]],
  ['shred', [remove.everyFileRule, device.writesOperandsRule]],
  ['truncate', [remove.everyFileRule, device.writesOperandsRule]],
  ['mv', [remove.moveRule, device.writesLastRule]],
  ['rsync', [remove.synchroniseRule, device.writesLastRule]],
  ['chmod', [remove.permissionRule]],
  ['chown', [remove.permissionRule]],
  ['chgrp', [remove.permissionRule]],
  ['find', [findRule]],
  ['gfind', [findRule]],
  ...['dd', 'dcfldd', 'dc3dd', 'gdd'].map((name) => [name, [device.blockCopyRule, power.sysrqRule]] as const),
  ...['tee', 'blkdiscard', 'mke2fs', 'pvcreate', 'pvremove', 'scrub', 'fallocate'].map(
    (name) => [name, [device.writesOperandsRule, power.sysrqRule]] as const,
  ),
  ...[
    'cp',
    'install',
    'scp',
    'ddrescue',
    'dd_rescue',
    'sponge',
    'xxd',
    'qemu-img',
    'bmaptool',
    'ntfsclone',
  ].map((name) => [name, [device.writesLastRule, power.sysrqRule]] as const),
  ...['curl', 'wget', 'pv', 'sort', 'openssl', 'partclone', 'aria2c', 'gpg', 'zstd', 'xz'].map(
    (name) => [name, [device.writesOutputRule]] as const,
  ),
  ...['fdisk', 'cfdisk', 'gdisk', 'cgdisk', 'sfdisk', 'sgdisk', 'parted'].map(
    (name) => [name, [device.partitionRule]] as const,
  ),
  ...['wipefs', 'mdadm', 'hdparm', 'nvme', 'badblocks', 'cryptsetup', 'sg_format'].map(
    (name) => [name, [device.signatureRule]] as const,
  ),
  ['zpool', [device.volumeRule]],
  ['diskutil', [device.volumeRule]],
  ...['mkfs', 'mke2fs', 'mkdosfs', 'mkntfs', 'mkswap', 'mkreiserfs', 'newfs', 'newfs_hfs', 'newfs_apfs'].map(
    (name) => [name, [device.formatRule]] as const,
  ),
  ['shutdown', [power.shutdownRule]],
  ...['reboot', 'halt', 'poweroff', 'fasthalt', 'fastboot'].map(
    (name) => [name, [power.rebootRule]] as const,
  ),
  ...['init', 'telinit', 'runit-init', 'openrc-init'].map((name) => [name, [power.runLevelRule]] as const),
  ['systemctl', [power.systemctlRule]],
  ['loginctl', [power.systemctlRule]],
  ...['dbus-send', 'gdbus', 'busctl', 'qdbus'].map((name) => [name, [power.messageBusRule]] as const),
  ['kexec', [power.kexecRule]],
  ['kill', [power.killRule]],
  ['killall5', [power.killAllRule]],
  ['pkill', [power.patternKillRule]],
  ['killall', [power.patternKillRule]],
]);
const NO_RULES: readonly Rule[] = [];
const FORMATS: readonly Rule[] = [device.formatRule];
const NAMES = [...RULES.keys()];

function isFormatName(name: string): boolean {
  return /^(mkfs|newfs)[._][\w.-]+$/.test(name);
}

/** Whether rules are kept for commands of this name. */
export function hasRules(name: string): boolean {
  return RULES.has(name) || isFormatName(name);
}

/** What a command breaks by the rules for its name. */
function judgeCommand(command: Command): FloorRule[] {
  const rules = RULES.get(command.name) ?? (isFormatName(command.name) ? FORMATS : NO_RULES);
  const broken: FloorRule[] = [];
  for (const rule of rules) {
    const found = rule(command);
    if (found !== null) broken.push(found);
  }
  return broken;
}

/** The same, by the rules for every name that it could be where a glob or an unknown part leaves that open. */
export function judgeAnyName(command: Command): FloorRule[] {
  const { name, args } = command;
  if (!isOpenName(name)) return judgeCommand(command);
  const broken = NAMES.filter((known) => couldBe(name, known)).flatMap((known) =>
    judgeCommand({ ...command, name: known }),
  );
  // A name that is not known, with the options of `rm -rf` and a root: nothing else is meant.
  const flags = args.filter((arg) => arg.startsWith('-')).join('');
  const isRemoval = /r/i.test(flags) && flags.includes('f');
  return isRemoval ? [...broken, ...judgeCommand({ ...command, name: 'rm' })] : broken;
}
