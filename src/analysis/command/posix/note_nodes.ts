import type { SyntaxNode } from 'unbash';
import type { Word } from '../analysis.ts';
import type { Collector, Place } from './collector.ts';
import { noteArithmetic, noteExpansion, notePieces, noteValue } from './walk_words.ts';
import { toWord } from './words.ts';

/** Notes what a node other than a simple command is. */
export function noteNode(collector: Collector, node: SyntaxNode, { source }: Place): void {
  const { constructs, problems, functions } = collector;
  switch (node.type) {
    case 'Subshell':
      constructs.add('subshell');
      return;
    case 'BraceGroup':
      constructs.add('group');
      return;
    case 'For':
    case 'Select':
      constructs.add('control_flow');
      noteLoop(
        collector,
        node.name.text,
        node.type === 'Select' ? undefined : node.wordlist?.map((word) => toWord(word, collector.onDoubt)),
      );
      return;
    case 'If':
    case 'While':
    case 'Case':
    case 'ArithmeticFor':
      constructs.add('control_flow');
      return;
    case 'Function':
      constructs.add('function');
      functions.add(node.name.value);
      if (node.name.parts !== undefined || node.name.text !== node.name.value)
        collector.onDoubt(node.name.text);
      return;
    case 'Coproc':
      constructs.add('background');
      return;
    case 'ArithmeticCommand':
      constructs.add('arithmetic_expansion');
      noteArithmetic(collector, node.body);
      problems.add('hidden_command', 'shells without arithmetic commands run what stands in `((…))`');
      return;
    case 'TestCommand':
      if (source.slice(node.pos, node.end).includes('\n')) noteForeignTest(collector);
      return;
    case 'TestLogical':
    case 'TestGroup':
      noteForeignTest(collector);
      return;
    case 'TestBinary':
      if (/^[<>]$/.test(node.operator)) noteForeignTest(collector);
      if (ARITHMETIC_TESTS.has(node.operator)) {
        noteArithmetic(collector, node.left.text);
        noteArithmetic(collector, node.right.text);
      }
      return;
    case 'ArithmeticWord':
      noteArithmetic(collector, node.value);
      return;
    default:
      noteExpansion(collector, node);
  }
}

const ARITHMETIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

/** Shells without `[[` take the operators and newlines inside it for their own, and what follows for commands. */
function noteForeignTest({ problems }: Collector): void {
  problems.add('hidden_command', 'shells without `[[` run what stands in it');
}

/** The variable of a loop takes each word in turn; without words it takes the arguments. */
function noteLoop(collector: Collector, name: string, words: Word[] | undefined): void {
  if (words === undefined) noteValue(collector, name, null);
  for (const word of words ?? []) {
    notePieces(collector, word.pieces);
    noteValue(collector, name, /^\{-?\d+\.\.-?\d+(\.\.-?\d+)?\}$/.test(word.text) ? NUMBER : word);
  }
}

const NUMBER = { text: '0', value: '0', pieces: [] };
