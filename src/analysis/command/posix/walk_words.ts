import type { ParameterExpansionPart, SyntaxNode } from 'unbash';
import type { Piece, Word } from '../analysis.ts';
import { shown } from '../problems.ts';
import { type Collector, noteSet } from './collector.ts';
import { isPlainNumber, namesIn } from './variables.ts';

/** Notes what the parser keeps no part for. */
export function notePieces({ constructs }: Collector, pieces: readonly Piece[]): void {
  if (pieces.some(({ kind }) => kind === 'tilde')) constructs.add('tilde');
}

/** Notes an expansion, and what of it could run more than is written there. */
export function noteExpansion(collector: Collector, node: SyntaxNode): void {
  const { constructs, problems } = collector;
  switch (node.type) {
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
      constructs.add('command_substitution');
      return;
    case 'ProcessSubstitution':
      constructs.add('process_substitution');
      return;
    case 'SimpleExpansion':
      constructs.add('parameter_expansion');
      return;
    case 'ParameterExpansion':
      constructs.add('parameter_expansion');
      noteParameter(collector, node);
      return;
    case 'ArithmeticExpansion':
      constructs.add('arithmetic_expansion');
      noteArithmetic(collector, node.text);
      return;
    case 'BraceExpansion':
      constructs.add('brace_expansion');
      return;
    case 'Glob':
      constructs.add('glob');
      return;
    case 'ExtendedGlob':
      constructs.add('glob');
      // zsh runs `*(e:…:)`, bash knows these only with an option, other shells not at all.
      problems.add('hidden_command', `shells read ${shown(node.text)} differently`);
      return;
  }
}

export function noteArithmetic({ evaluated }: Collector, text: string): void {
  for (const name of namesIn(text)) evaluated.add(name);
}

/** Indirection, the prompt's `@P` and subscripts evaluate what a variable holds. */
function noteParameter(collector: Collector, node: ParameterExpansionPart): void {
  const { prefix, operation, index, parameter, text } = node;
  const isIndirect = prefix === '!' && operation?.type !== 'Names' && !/^[@*]$/.test(index?.text ?? '');
  const isRead = operation === undefined || KNOWN_OPERATIONS.has(operation.type);
  if (isIndirect || !isRead) {
    collector.problems.add('hidden_command', `${shown(text)} evaluates what a variable holds`);
  }
  if (index !== undefined) noteArithmetic(collector, index.text);
  if (operation?.type === 'Slice') {
    noteArithmetic(collector, operation.offset.text);
    noteArithmetic(collector, operation.length?.text ?? '');
  }
  if (operation?.type === 'Default' && operation.operator.endsWith('=')) {
    noteSet(collector, parameter, isPlainNumber(operation.operand.text));
  }
}

const KNOWN_OPERATIONS = new Set(['Default', 'Remove', 'Replace', 'Slice', 'CaseModification', 'Names']);

/** Notes that a variable gets this word; null for an array or what is read. */
export function noteValue(collector: Collector, name: string, value: Word | null): void {
  const isNumber =
    typeof value?.value === 'string'
      ? isPlainNumber(value.value)
      : (value?.pieces.every((piece) => piece.kind === 'dynamic' && piece.text.startsWith('$((')) ?? false);
  noteSet(collector, name, isNumber);
}
