import type { Assignment, Word } from '../analysis.ts';
import { optionSpec, readOptions } from './options.ts';
import { dynamic, hidden, type Opener, type Outcome, runUnknown, runWords } from './outcome.ts';
import { fixedStart, isOneWord, isOperand, literalWord } from './word_tools.ts';
import type { WrapperSpec } from './wrapper_table.ts';

/** The words after `at` as the command that runs, or why that is not known. */
function runRest(words: readonly Word[], at: number, spec: Partial<WrapperSpec>, name = NAME): Outcome[] {
  const before = words.slice(at, at + (spec.operands ?? 0));
  if (!before.every(isOneWord)) return runUnknown(words.slice(at), unknownCommand());
  const taken = takeAssignments(words.slice(at + before.length), spec.takesAssignments === true, name);
  if (taken === null) return runUnknown(words.slice(at), unknownCommand());
  const { assignments, rest } = taken;
  if (rest.length > 0) return [runWords(rest, assignments)];
  return spec.hasDefaultShell === true ? [hidden('a shell would read commands from its input')] : [];
}

export function unknownCommand(): Outcome {
  return dynamic('the command that a wrapper would run is not known');
}

/** Options by which code of another file is loaded. Of `strace` a file that starts with `|` or `!` is a command. */
const LOADS = new Set(['audit', 'faked', 'lib', 'library-path', 'load-interp', 'preload']);

/** A wrapper of which the table tells all. */
export function openWrapper(spec: WrapperSpec): Opener {
  return ({ words }) => {
    const options = readOptions(words, 1, spec.options);
    if (options === null) return runUnknown(guessRest(words), unknownCommand());
    const runsMore = options.seen.some(
      ([name, value]) => LOADS.has(name) || /^[|!]/.test(value?.value ?? ''),
    );
    if (runsMore)
      return runUnknown(words.slice(options.at), hidden('an option of a wrapper runs or loads more'));
    if (options.seen.some(([name]) => spec.runsNothing.includes(name))) return [];
    const startsShell = options.seen.some(([name]) => spec.startsShell.includes(name));
    return runRest(words, options.at, startsShell ? { ...spec, hasDefaultShell: true } : spec);
  };
}

/** What most likely is the command where an option is not known: what follows the words that look like options. */
function guessRest(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex((word, index) => index > 0 && isOperand(word));
  return at === -1 ? [] : words.slice(at);
}

/** What has an equals sign is an assignment, of a name that no shell could give too; for `sudo` unless it is a path. */
const NAME = /^([^=/][^=]*)=/;
const ENV_NAME = /^([^=]*)=/;

/** `NAME=value` words, which become assignments of what runs. */
function takeAssignments(
  words: readonly Word[],
  takes: boolean,
  name: RegExp,
): { assignments: Assignment[]; rest: readonly Word[] } | null {
  const assignments: Assignment[] = [];
  let at = 0;
  for (let word = words[at]; takes && word !== undefined; word = words[at]) {
    const match = name.exec(fixedStart(word));
    if (match?.[1] === undefined) break;
    // A value that splits could bring the name of another command.
    if (!isOneWord(word)) return null;
    assignments.push({ name: match[1], value: valueAfter(word, match[0].length), text: word.text });
    at += 1;
  }
  return { assignments, rest: words.slice(at) };
}

/** What follows the equals sign, `length` characters into the word. */
function valueAfter({ text, value, pieces }: Word, length: number): Word {
  if (value !== null) return literalWord(value.slice(length));
  let left = length;
  const rest = pieces.flatMap((piece) => {
    if (piece.kind !== 'literal' || left === 0) return [piece];
    const cut = Math.min(left, piece.text.length);
    left -= cut;
    return cut === piece.text.length ? [] : [{ ...piece, text: piece.text.slice(cut) }];
  });
  return { text: text.slice(text.indexOf('=') + 1), value: null, pieces: rest };
}

const TIMEOUT = optionSpec(
  'fhk:ps:vV',
  'foreground kill-after= preserve-status signal= verbose help version',
);
const DURATION = /^\d*\.?\d+[smhd]?$/;

/** `timeout 5 command`: what is no duration is not the `timeout` of POSIX. */
export const openTimeout: Opener = ({ words }) => {
  const options = readOptions(words, 1, TIMEOUT);
  const duration = options === null ? undefined : words[options.at];
  if (options === null || (typeof duration?.value === 'string' && !DURATION.test(duration.value))) {
    return runUnknown(guessRest(words), unknownCommand());
  }
  return runRest(words, options.at, { operands: 1 });
};

const ENV = optionSpec(
  'a:C:iP:S:u:0v',
  'argv0= block-signal? chdir= debug default-signal? ignore-environment ignore-signal? list-signal-handling null ' +
    'split-string= unset= help version',
);
const SPLITS_MAX = 4;
/** What `env -S` splits at blanks alone. */
const PLAIN_SPLIT = /^[\w ./:=,@%+-]*$/;

/** `env`: what `-S` holds stands before the words after it. A lone `-` is `-i`. */
export const openEnv: Opener = ({ words }) => {
  let current = words;
  for (let splits = 0; splits < SPLITS_MAX; splits += 1) {
    const options = readOptions(current, 1, ENV);
    if (options === null) return runUnknown(guessRest(current), unknownCommand());
    const at = current[options.at]?.value === '-' ? options.at + 1 : options.at;
    const split = options.seen.find(([name]) => name === 'S' || name === 'split-string');
    if (split === undefined) return runRest(current, at, { takesAssignments: true }, ENV_NAME);
    const text = split[1]?.value ?? null;
    if (text === null || !PLAIN_SPLIT.test(text)) {
      return runUnknown(current.slice(at), hidden('`env -S` splits its text by rules of its own'));
    }
    const parts = text.split(' ').filter((part) => part !== '');
    current = [...current.slice(0, 1), ...parts.map(literalWord), ...current.slice(at)];
  }
  return [unknownCommand()];
};
