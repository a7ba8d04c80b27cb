import type { Segment, Word } from '../analysis.ts';
import { shown } from '../problems.ts';
import { type Collector, noteSet } from './collector.ts';
import { hidesCommands, isPlainNumber } from './variables.ts';
import { noteArithmetic } from './walk_words.ts';

const DECLARATIONS = new Set(['export', 'declare', 'typeset', 'readonly', 'local', 'unset']);
/** Builtins that set the variables they name to what they read. */
const READERS = new Set(['read', 'readarray', 'mapfile', 'getopts', 'printf', 'wait', 'vared']);

/**
 * What a text sets beforehand can change what its later words run: functions, variables that shells obey, and
 * variables whose values arithmetic evaluates.
 */
export function judgeDefinitions(collector: Collector): void {
  const { segments, functions, problems, numbers, evaluated } = collector;
  for (const segment of segments) noteBuiltin(collector, segment);
  for (const segment of segments) {
    const name = segment.words[0]?.value;
    if (typeof name === 'string' && functions.has(name)) {
      segment.understood = false;
      problems.add('hidden_command', `${shown(name)} is defined by the command itself`);
    }
  }
  for (const name of evaluated) {
    if (numbers.get(name) === false || /^[1-9@*]$/.test(name)) {
      problems.add('hidden_command', `arithmetic evaluates what ${shown(name)} holds`);
    }
  }
  const runsMore = segments.some(
    ({ words }) => words[0] !== undefined && !DECLARATIONS.has(words[0].value ?? ''),
  );
  const hiding = runsMore ? [...numbers.keys()].find(hidesCommands) : undefined;
  if (hiding !== undefined) problems.add('hidden_command', `${shown(hiding)} changes what commands run`);
}

/** Builtins that evaluate subscripts in their arguments. */
const EVALUATORS = new Set([...DECLARATIONS, ...READERS, 'let', 'test', '[']);

/** What builtins set and evaluate by their arguments. */
function noteBuiltin(collector: Collector, { words }: Segment): void {
  const name = words[0]?.value ?? '';
  if (name !== 'alias' && !EVALUATORS.has(name)) return;
  const rest = words.slice(1);
  if (name === 'alias') {
    noteAliases(collector, rest);
    return;
  }
  if (DECLARATIONS.has(name)) {
    noteDeclared(collector, rest);
  } else if (READERS.has(name)) {
    const isPrintf = name === 'printf';
    for (const { value } of isPrintf && rest[0]?.value !== '-v'
      ? []
      : rest.slice(0, isPrintf ? 2 : undefined)) {
      const match = /^[A-Za-z_]\w*/.exec(value ?? '');
      if (match !== null) noteSet(collector, match[0], false);
    }
  }
  if (name === 'let') noteArithmetic(collector, rest.map(({ text }) => text).join(' '));
  const isEvaluated = rest.some((word) => hidesSubscript(word) || (name === 'let' && word.value === null));
  if (isEvaluated) collector.problems.add('hidden_command', `${shown(name)} evaluates its arguments`);
}

/** A subscript with an expansion in it that is not the shell's own: the builtin expands it once more. */
function hidesSubscript({ pieces, value }: Word): boolean {
  const text = pieces.map((piece) => (piece.kind === 'literal' ? piece.text : '')).join('');
  return text.includes('[') && text !== '[' && (value === null || /[$`]/.test(value));
}

/** Integers and references evaluate what they are given. */
function noteDeclared(collector: Collector, words: readonly Word[]): void {
  for (const { value } of words) {
    const match = /^([A-Za-z_]\w*)\+?=/.exec(value ?? '');
    if (match?.[1] !== undefined) {
      noteSet(collector, match[1], isPlainNumber((value ?? '').slice(match[0].length)));
    } else if (/^-[a-zA-Z]*[in]/.test(value ?? '') && words.length > 1) {
      collector.problems.add('hidden_command', 'integers and references evaluate what they are given');
    }
  }
}

/** An alias is one more name that the text defines; after one that ends in a blank the next word is one too. */
function noteAliases({ functions, problems }: Collector, words: readonly Word[]): void {
  for (const { value } of words) {
    const equals = value?.indexOf('=') ?? -1;
    if (value === null || equals === -1) continue;
    functions.add(value.slice(0, equals));
    if (/\s$/.test(value)) problems.add('hidden_command', 'an alias makes aliases of words after it');
  }
}
