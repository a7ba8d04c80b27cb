import { asksForHelp, type Command, type Rule, splitOptions } from './command.ts';
import { assumeAnything, SOME, UNKNOWN } from './marks.ts';
import { couldBeRawDevice, resolvePath } from './protected_paths.ts';

/** Whether writing to any of these paths could write to a raw device. A bare unknown value is taken for a file. */
export function writesToDevice(paths: readonly string[], command: Pick<Command, 'ground'>): boolean {
  return paths.some((path) => {
    if (path === UNKNOWN || path === SOME) return false;
    return couldBeRawDevice(assumeAnything(path), command.ground);
  });
}

/** The values of `name=value` operands, as `dd` takes them. */
function valuesOf(args: readonly string[], name: string): string[] {
  return args.filter((arg) => arg.startsWith(`${name}=`)).map((arg) => arg.slice(name.length + 1));
}

/** `dd` and its relatives: only `of` is written. */
export const blockCopyRule: Rule = (command) => {
  const outputs = ['of', 'ofd', 'hof', 'outfile'].flatMap((name) => valuesOf(command.args, name));
  return writesToDevice(outputs, command) ? 'raw-device-write' : null;
};

/** Tools that write to each of their operands. */
export const writesOperandsRule: Rule = (command) =>
  !asksForHelp(command.args) && writesToDevice(splitOptions(command.args).operands, command)
    ? 'raw-device-write'
    : null;

/** The values of an option that names an output, apart or joined: `-o X`, `-oX`, `--output X`, `--output=X`. */
function outputsOf(args: readonly string[]): string[] {
  const outputs: string[] = [];
  for (const [index, arg] of args.entries()) {
    const [, joined] =
      /^(?:--[a-z-]*(?:out|output|output-document|dest|directory|overwrite)=|-[oOt])([\s\S]+)$/.exec(arg) ??
      [];
    if (joined !== undefined) outputs.push(joined);
    if (/^-(o|O|t|out)$|^--[a-z-]*(out|output|output-document|dest|directory|overwrite)$/.test(arg)) {
      outputs.push(args[index + 1] ?? '');
    }
  }
  return outputs;
}

/** Tools that write to the last of their operands, or to what an option names. */
export const writesLastRule: Rule = (command) => {
  const last = splitOptions(command.args).operands.at(-1);
  const outputs = [...outputsOf(command.args), ...(last === undefined ? [] : [last])];
  return writesToDevice(outputs, command) ? 'raw-device-write' : null;
};

/** Tools whose operands are read, and that write to what an option names. */
export const writesOutputRule: Rule = (command) =>
  writesToDevice(outputsOf(command.args), command) ? 'raw-device-write' : null;

/** Options and words with which a tool for partitions only reads. */
const ONLY_READS: Readonly<Record<string, RegExp>> = {
  fdisk: /^(-[lsxV]|--list|--list-details|--getsz|--bytes)/,
  cfdisk: /^--read-only$|^-P/,
  gdisk: /^-l/,
  sfdisk: /^(-[ldJsVgFTq]|--list|--dump|--json|--show|--verify|--list-free|--list-types|--dump)/,
  sgdisk:
    /^(-[piOEFfDLvbV]|--print|--info|--verify|--backup|--list-types|--display|--first|--end|--pretend|-P)/,
  parted: /^(print|p|unit|-l|--list|-v|help|align-check|select)$/,
};
const WRITES: Readonly<Record<string, RegExp>> = {
  sgdisk:
    /^(-[a-zA-Z]*[ZzogdnmGtcuRlehNsrjBATS]|--(zap|clear|mbrtogpt|delete|new|load-backup|replicate|typecode))/,
  sfdisk: /^(--delete|--part-|--append|-a$|-N)/,
  parted:
    /^(mklabel|mktable|mkpart|mkpartfs|rm|resize|resizepart|rescue|move|name|set|toggle|disk_set|type|cp)$/,
};

/** Partition tables: a tool for them writes unless it is only asked to list, since what it reads is not known. */
export const partitionRule: Rule = (command) => {
  const { name, args } = command;
  if (asksForHelp(args) || !writesToDevice(splitOptions(args).operands, command)) return null;
  const writes = args.some((arg) => WRITES[name]?.test(arg) === true);
  const onlyReads = args.some((arg) => ONLY_READS[name]?.test(arg) === true);
  return writes || !onlyReads ? 'raw-device-write' : null;
};

/** Signatures of file systems and RAID sets: without an option that erases, they are listed. */
export const signatureRule: Rule = (command) => {
  const { name, args } = command;
  const erases: Readonly<Record<string, RegExp>> = {
    wipefs: /^(-[a-z]*[ao]|--all|--offset)/,
    mdadm: /^(--zero-superblock|--create|-C)$/,
    hdparm: /^--(security-erase|security-erase-enhanced|write-sector|make-bad-sector|trim-sector|sanitize)/,
    nvme: /^(format|sanitize|write|write-zeroes|write-uncor|dsm)$/,
    badblocks: /^-[a-z]*w/,
    cryptsetup: /^(luksformat|erase|lukserase|reencrypt|luks-format)$/i,
    sg_format: /^(--format|-F)/,
    zpool: /^labelclear$/,
    diskutil: /^(erase|zero|random|secureerase|partitiondisk|reformat)/i,
  };
  const isErased = args.some((arg) => erases[name]?.test(arg) === true);
  return isErased && writesToDevice(args, command) ? 'raw-device-write' : null;
};

/** `zpool destroy`, `diskutil eraseDisk … disk2`, `diskutil apfs deleteContainer`: named without `/dev`. */
export const volumeRule: Rule = (command) => {
  const { name, args } = command;
  const [verb = '', second = ''] = args;
  if (name === 'zpool')
    return verb === 'destroy' && args.length > 1 ? 'format-filesystem' : signatureRule(command);
  const erases = /^(erase|zero|random|secureerase|partitiondisk|reformat)/i.test(verb);
  const deletes = /^apfs$/i.test(verb) && /^(delete|erase)/i.test(second);
  return erases || deletes ? 'format-filesystem' : null;
};

/** Whether a path is evidently an image in a file, or a loop device that is made of one. */
function isImage(path: string, command: Command): boolean {
  const isOpen = path.includes(UNKNOWN) || path.includes(SOME);
  if (isOpen && !/^[\w.]*\//.test(path)) return false;
  const resolved = resolvePath(path, command.ground.folders);
  return !resolved.some((one) => /^\/+dev(\/|$)/.test(one) && !/^\/+dev\/(loop|ram|zram)\w*$/.test(one));
}

/** Making a file system, swap area or encrypted volume on anything but what is evidently an image in a file. */
export const formatRule: Rule = (command) => {
  const { args, name } = command;
  const isDryRun = /^mk(e2fs|fs\.ext[234])$/.test(name) && args.includes('-n');
  if (asksForHelp(args) || isDryRun) return null;
  const { operands } = splitOptions(args);
  return operands.every((operand) => isImage(operand, command)) ? null : 'format-filesystem';
};
