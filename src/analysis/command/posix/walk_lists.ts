import type { AndOr, Pipeline, PipelineNode, Statement } from 'unbash';
import { below, type Collector, type Place } from './collector.ts';

type Visit = (collector: Collector, node: PipelineNode | AndOr, place: Place) => void;

/** Statements of one list: each joined to the one before it by what ends that. */
export function walkStatements(
  collector: Collector,
  statements: readonly Statement[],
  place: Place,
  visit: Visit,
): void {
  let before: Statement | undefined;
  for (const statement of statements) {
    const operator = before === undefined ? place.operator : joiner(collector, before, statement, place);
    if (statement.background === true) collector.constructs.add('background');
    visit(collector, statement.command, below(place, operator));
    before = statement;
  }
}

function joiner({ constructs }: Collector, before: Statement, next: Statement, { source }: Place): string {
  const gap = source.slice(before.end, next.pos);
  if (gap.includes('\n')) constructs.add('newline');
  if (before.background === true) return '&';
  return /^(?:[ \t]|\\\n)*;/.test(gap) ? ';' : '\n';
}

/** The members of a pipeline or of an and-or list. */
export function walkJoined(collector: Collector, node: Pipeline | AndOr, place: Place, visit: Visit): void {
  if (node.type === 'Pipeline' && node.prefixes.some(({ type }) => type === 'Negation')) {
    collector.constructs.add('negation');
  }
  let end: number | undefined;
  node.commands.forEach((command, index) => {
    if (end !== undefined && /(?<!\\)\n/.test(place.source.slice(end, command.pos))) {
      collector.constructs.add('newline');
    }
    visit(
      collector,
      command,
      below(place, index === 0 ? place.operator : (node.operators[index - 1] ?? null)),
    );
    end = command.end;
  });
}

/**
 * Whether the text outside of a script's statements is only blanks, separators and comments: whatever else the
 * parser left out it did not understand. Says too whether there are comments.
 */
export function readGaps(
  source: string,
  statements: readonly Statement[],
  bodies: readonly (readonly [pos: number, end: number])[],
): { isClean: boolean; hasComment: boolean; hasNewline: boolean } {
  let at = 0;
  let body = 0;
  const found = { isClean: true, hasComment: false, hasNewline: false };
  const skipTo = (end: number): void => {
    while (at < end) {
      const next = bodies[body];
      if (next !== undefined && at >= next[0]) {
        at = Math.max(at, next[1]);
        body += 1;
        continue;
      }
      const character = source[at];
      if (character === '#') {
        found.hasComment = true;
        const newline = source.indexOf('\n', at);
        at = newline === -1 ? end : newline;
      } else if (character === '\\' && source[at + 1] === '\n') {
        at += 2;
      } else {
        if (character === '\n') found.hasNewline = true;
        else if (character !== ' ' && character !== '\t' && character !== ';') found.isClean = false;
        at += 1;
      }
    }
  };
  for (const { pos, end } of statements) {
    skipTo(pos);
    at = Math.max(at, end);
  }
  skipTo(source.length);
  return found;
}
