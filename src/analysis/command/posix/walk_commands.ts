import type {
  Assignment as AssignmentNode,
  Command,
  Redirected,
  Redirection as RedirectionNode,
  SyntaxNode,
  Word as WordNode,
} from 'unbash';
import type { Assignment, Piece, Redirection, Segment, Word } from '../analysis.ts';
import { shown } from '../problems.ts';
import type { Collector, Place } from './collector.ts';
import { pushLiteral } from './quote_removal.ts';
import { toRedirection } from './redirections.ts';
import { notePieces, noteValue } from './walk_words.ts';
import { literalValue, toWord } from './words.ts';

/** A simple command as a segment. What stands inside its words is walked by the caller. */
export function readCommand(collector: Collector, command: Command, place: Place): Segment {
  const { constructs } = collector;
  const { name, prefix, suffix } = command;
  const words = name === undefined ? [] : [readWord(collector, name)];
  const assignments: Assignment[] = [];
  const segment: Segment = {
    language: 'posix',
    text: place.source.slice(command.pos, command.end),
    words,
    assignments,
    redirections: [],
    operator: place.operator,
    inner: [],
    understood: isKnownName(collector, words[0]),
  };
  const parts = name === undefined ? [...prefix, ...suffix] : [...prefix, name, ...suffix];
  let afterBoth = false;
  for (const node of parts) {
    if (node === name) continue;
    if (node.type === 'Word') {
      words.push(readWord(collector, node));
      // Elsewhere than in bash `a &>f b` runs `a` in the background, and then `b`.
      if (afterBoth) refuse(collector, segment, `shells read ${shown(segment.text)} differently`);
    } else if (node.type === 'Assignment') {
      constructs.add('assignment');
      const assignment = readAssignment(collector, node);
      assignments.push(assignment);
      if (node.pos >= (name?.end ?? Number.POSITIVE_INFINITY)) words.push(assignmentWord(node, assignment));
    } else {
      segment.redirections.push(readRedirection(collector, node));
      if (node.operator.startsWith('&>')) afterBoth = true;
    }
  }
  if (!isCovered(command, parts, place.source)) collector.onDoubt(segment.text);
  return segment;
}

/** Whether nothing but blanks stands between the parts of a command. */
function isCovered({ pos, end }: Command, parts: readonly SyntaxNode[], source: string): boolean {
  let at = pos;
  for (const part of parts) {
    if (!isBlank(source, at, part.pos)) return false;
    at = part.end;
  }
  return isBlank(source, at, end);
}

function isBlank(source: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const character = source[at];
    if (character === '\\' && source[at + 1] === '\n') at += 1;
    else if (character !== ' ' && character !== '\t') return false;
  }
  return true;
}

function readRedirection({ constructs, problems, onDoubt }: Collector, node: RedirectionNode): Redirection {
  constructs.add('redirection');
  if (node.type === 'HereDoc') {
    constructs.add('here_document');
    if (node.closing === undefined) problems.add('syntax', 'a here-document is not closed');
  } else if (node.target === undefined) {
    problems.add('syntax', 'a redirection has no target');
  }
  return toRedirection(node, onDoubt);
}

/** The redirections of a group or of a loop, as a segment that runs nothing. */
export function readOuterRedirections(collector: Collector, node: Redirected, place: Place): Segment {
  const [first] = node.redirects;
  return {
    language: 'posix',
    text: first === undefined ? '' : place.source.slice(first.pos, node.redirects.at(-1)?.end),
    words: [],
    assignments: [],
    redirections: node.redirects.map((redirect) => readRedirection(collector, redirect)),
    operator: null,
    inner: [],
    understood: true,
  };
}

function refuse({ problems }: Collector, segment: Segment, text: string): void {
  segment.understood = false;
  problems.add('hidden_command', text);
}

function readWord(collector: Collector, node: WordNode): Word {
  const word = toWord(node, collector.onDoubt);
  notePieces(collector, word.pieces);
  return word;
}

/** A name must be fixed text. zsh takes `=name` for the path of `name`. */
function isKnownName({ problems }: Collector, name: Word | undefined): boolean {
  if (name === undefined) return true;
  const [first] = name.pieces;
  const isExpandedByZsh = first?.kind === 'literal' && !first.quoted && first.text.startsWith('=');
  if (name.value !== null && name.value !== '' && !isExpandedByZsh) return true;
  problems.add('dynamic_name', `the name of the command ${shown(name.text)} is not fixed`);
  return false;
}

function readAssignment(collector: Collector, node: AssignmentNode): Assignment {
  const value = node.value.type === 'ArrayValue' ? null : toWord(node.value, collector.onDoubt, 'assigned');
  if (value !== null) notePieces(collector, value.pieces);
  noteValue(collector, node.name, node.index === undefined && node.append !== true ? value : null);
  return { name: node.name, value, text: node.text };
}

/** An assignment among the arguments of `export` and its like, as the word that it is too. */
function assignmentWord(
  { text, pos, value: { pos: valuePos } }: AssignmentNode,
  { value }: Assignment,
): Word {
  const pieces: Piece[] = [];
  if (value === null) {
    pieces.push({ kind: 'dynamic', text });
  } else {
    pushLiteral(pieces, text.slice(0, valuePos - pos), false);
    for (const piece of value.pieces) {
      if (piece.kind === 'literal') pushLiteral(pieces, piece.text, piece.quoted);
      else pieces.push(piece);
    }
  }
  return { text, value: literalValue(pieces), pieces };
}
