import { type Command, hasOption, type Rule, splitOptions } from './command.ts';
import type { FloorRule } from './floor.ts';
import { UNKNOWN, WILD } from './marks.ts';
import { isUnknownAlone, type Place, placeOf } from './protected_paths.ts';

/** The rule that deleting a place breaks. */
export function ruleFor(place: Place): FloorRule {
  return place === 'home' ? 'recursive-delete-of-home' : 'recursive-delete-of-root';
}

/** The worst of what these paths could be: a root before a home. */
export function worstPlace(paths: readonly string[], command: Command): Place | null {
  const places = paths.map((path) => placeOf(path, command.ground));
  return (
    places.find((place) => place === 'root' || place === 'system') ??
    places.find((one) => one !== null) ??
    null
  );
}

function isOpenOption(option: string): boolean {
  return option.includes(UNKNOWN) || option.includes(WILD);
}

/**
 * `rm` of a protected place with all below it. The force option decides nothing: without it, `rm` asks only on a
 * terminal.
 */
export const removeRule: Rule = (command) => {
  const { options, operands } = splitOptions(command.args);
  const isRecursive = hasOption(options, 'rR', 'recursive', 1) || options.some(isOpenOption);
  const place = worstPlace(operands, command);
  if (place === null) {
    // The option says that the root is meant, whatever the variable turns out to hold.
    const liftsGuard = options.some(
      (option) => option.length >= 6 && '--no-preserve-root'.startsWith(option),
    );
    return liftsGuard && isRecursive && operands.some(isUnknownAlone) ? 'recursive-delete-of-root' : null;
  }
  if (isRecursive || command.onEveryFile) return ruleFor(place);
  const mayBeRecursive = operands.some((operand) => operand === UNKNOWN || operand === WILD);
  const isWhole = operands.some((operand) => operand === '/' || operand === '/*');
  return mayBeRecursive && isWhole ? ruleFor(place) : null;
};

/** Tools that delete, overwrite or empty each file they are given, when they are given every file. */
export const everyFileRule: Rule = (command) => {
  const place = command.onEveryFile ? worstPlace(splitOptions(command.args).operands, command) : null;
  return place === null ? null : ruleFor(place);
};

/** Deleters that take a folder with all below it whatever their options. */
export const wholeFolderRule: Rule = (command) => {
  const place = worstPlace(splitOptions(command.args).operands, command);
  return place === null ? null : ruleFor(place);
};

function optionValue(args: readonly string[], short: string, long: string): string | null {
  for (const [index, arg] of args.entries()) {
    if (arg === short || arg === long) return args[index + 1] ?? null;
    if (arg.startsWith(`${long}=`)) return arg.slice(long.length + 1);
    if (arg.startsWith(short) && arg.length > short.length && !arg.startsWith('--'))
      return arg.slice(short.length);
  }
  return null;
}

/** `mv` of a root or a system folder anywhere, and of a home into the null device. */
export const moveRule: Rule = (command) => {
  const target = optionValue(command.args, '-t', '--target-directory');
  const { operands } = splitOptions(command.args);
  const sources = target === null ? operands.slice(0, -1) : operands.filter((operand) => operand !== target);
  const place = worstPlace(sources, command);
  if (place === 'root' || place === 'system') return ruleFor(place);
  const destination = target ?? operands.at(-1);
  return place === 'home' && destination === '/dev/null' ? ruleFor(place) : null;
};

/** `rsync --delete` onto a root or a system folder, which leaves only what the source has. */
export const synchroniseRule: Rule = (command) => {
  const { options, operands } = splitOptions(command.args);
  const deletes = options.some((option) => option === '--del' || option.startsWith('--delete'));
  const destination = operands.at(-1);
  if (!deletes || operands.length < 2 || destination === undefined) return null;
  const place = placeOf(destination, command.ground);
  return place === 'root' || place === 'system' ? ruleFor(place) : null;
};

/** Recursive change of owner or mode of a root or a system folder: the machine neither boots nor lets anyone in. */
export const permissionRule: Rule = (command) => {
  const { options, operands } = splitOptions(command.args);
  const isRecursive = hasOption(options, 'R', 'recursive', 3) || command.onEveryFile;
  if (!isRecursive) return null;
  const byReference = options.some((option) => option.startsWith('--ref'));
  const place = worstPlace(byReference ? operands : operands.slice(1), command);
  return place === 'root' || place === 'system' ? 'recursive-permission-change' : null;
};
