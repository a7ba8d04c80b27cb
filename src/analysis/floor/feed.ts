import type { Found } from './find_rule.ts';
import { SOME, WILD } from './marks.ts';

/** What a runner such as `find -exec` or `xargs` adds to the arguments of the command it runs. */
export interface Feed {
  /** What stands for them in the arguments; null when they follow them. */
  placeholder: string | null;
  values: readonly string[];
  onEveryFile: boolean;
}

/** What a command prints, and whether it is the name of every file below. */
export interface Output {
  text: string;
  ofEveryFile: boolean;
}

export function feedOfFind({ roots, runsOnEvery }: Found): Feed {
  return { placeholder: '{}', values: runsOnEvery ? roots : [SOME], onEveryFile: runsOnEvery };
}

const VALUES_MAX = 4096;

/** What `xargs` hands on of what it reads. */
export function feedOfXargs(args: readonly string[], input: Output | null): Feed {
  const at = args.findIndex((arg) => /^-[IiJ]/.test(arg) || arg.startsWith('--replace'));
  const option = args[at] ?? '';
  const joined = option.startsWith('--') ? (option.split('=')[1] ?? '') : option.slice(2);
  const apart = /^-[IJ]$/.test(option) ? (args[at + 1] ?? '') : '{}';
  const words = input === null ? [SOME] : input.text.split(/[\s\0]+/).filter((word) => word !== '');
  return {
    placeholder: at === -1 ? null : joined || apart,
    values: words.length > VALUES_MAX ? [WILD] : words,
    onEveryFile: input?.ofEveryFile ?? false,
  };
}

/** What `parallel` hands on: what stands after `:::`, or what it reads. */
export function feedOfParallel(args: readonly string[], input: Output | null): Feed {
  const at = args.findIndex((arg) => /^:::\+?$/.test(arg));
  if (at === -1) return feedOfXargs(args, input);
  return {
    placeholder: args.some((arg) => arg.includes('{}')) ? '{}' : null,
    values: args.slice(at + 1),
    onEveryFile: false,
  };
}

/** How many values one argument becomes before it counts as anything. */
const REPLACED_MAX = 64;

/** The arguments with what is fed to them. */
export function feedInto(args: readonly string[], feed: Feed | null): readonly string[] {
  if (feed === null) return args;
  const { placeholder, values } = feed;
  if (placeholder === null) return [...args, ...values];
  const few = values.length > REPLACED_MAX ? [WILD] : values;
  return args.flatMap((arg) =>
    arg.includes(placeholder) ? few.map((value) => arg.replaceAll(placeholder, () => value)) : [arg],
  );
}
