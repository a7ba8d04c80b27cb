import type { Assignment } from '../analysis.ts';
import { addProblem, makeSegment } from './findings.ts';
import {
  DEPTH_MAX,
  matchHere,
  type PsElement,
  type PsReader,
  readNested,
  skipLines,
  skipSpace,
} from './ps_reader.ts';
import { DOUBLE_QUOTES, readDollar, readString, SINGLE_QUOTES } from './ps_words.ts';
import { beginWord, finishWord, type WordDraft } from './word_draft.ts';

const STARTS = `$([{,+!-${SINGLE_QUOTES}${DOUBLE_QUOTES}`;
const BRACKET_AFTER_AT = /@[({'"\u2018-\u201e]/uy;
const SIGNED_NAME = /[-+!]{1,2}(?![-+!$(\d.[\s'"]|not\b|bnot\b|[ic]?split\b|join\b)/iy;
const NUMBER =
  /(?:0x[\da-f]+|0b[01]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)(?:u?[lsyn]|d)?(?:[kmgtp]b)?(?=[\s;|&(){},<>*/%+.=-]|$)/iy;
const ASSIGN = /(?:[-+*/%]|\?\?)?=(?!=)/y;
const NAME = /-?[\p{L}_][\p{L}\p{N}_]*/uy;
const MEMBER = /\.(?![.\d])|::/y;

/** Whether an expression starts at the place read next, and not a command (about_Parsing). */
export function isExpressionStart(reader: PsReader): boolean {
  const char = reader.text[reader.at] ?? '';
  if (char === '') return false;
  if (STARTS.includes(char)) return matchHere(reader, SIGNED_NAME) === null;
  return matchHere(reader, BRACKET_AFTER_AT) !== null || matchHere(reader, NUMBER) !== null;
}

interface Expression {
  start: number;
  parts: number;
  draft: WordDraft;
  /** Whether a member was just named, so that an opening parenthesis calls it. */
  isMember: boolean;
  hasCall: boolean;
}

/**
 * Reads an expression, and the statement assigned when it is the left side of one. Values run nothing by themselves, and only those that
 * are statements of the text itself are segments;
 * a method call is a segment that is not understood.
 */
export function readExpression(
  reader: PsReader,
  operator: string | null,
  assignments: Assignment[],
): PsElement {
  const { text, findings, dropped } = reader;
  const start = reader.at;
  const segment = makeSegment('powershell', { text: '', words: [], operator, assignments });
  findings.segments.push(segment);
  const expression: Expression = { start, parts: 0, draft: beginWord(), isMember: false, hasCall: false };
  let end = start;
  while (isWithin(reader)) {
    if (expression.parts > 0 && isAssignment(reader, start, end)) {
      const assigned = readAssigned(reader, operator, text.slice(start, end), assignments);
      if (expression.hasCall) segment.text = text.slice(start, end);
      else dropped.add(segment);
      return assigned;
    }
    readPart(reader, expression);
    end = reader.at;
    skipSpace(reader);
    if (reader.at !== end) expression.isMember = false;
  }
  const written = text.slice(start, end);
  segment.text = written;
  if (!expression.hasCall && assignments.length === 0 && reader.depth > 0) dropped.add(segment);
  if (expression.hasCall) {
    segment.understood = false;
    addProblem(findings, 'hidden_command', 'what a method call runs is not known');
  }
  return { segment, word: expression.parts === 1 ? finishWord(expression.draft, written) : null };
}

function isWithin({ text, at }: PsReader): boolean {
  const char = text[at];
  return char !== undefined && !'\n;|&)}'.includes(char);
}

const NAME_LENGTH_MAX = 200;
const LONE_VARIABLE = /^\$(?:\{[^}\n]*\}|[\p{L}\p{N}_:?]+)$/u;
const IN = /in(?=[\s($@'"])/iy;

/** `=` and the like, and the `in` of `foreach`, which gives its variable values in turn. */
function isAssignment(reader: PsReader, start: number, end: number): boolean {
  if (reader.depth >= DEPTH_MAX) return false;
  if (matchHere(reader, ASSIGN) !== null) return true;
  return (
    matchHere(reader, IN) !== null &&
    end - start <= NAME_LENGTH_MAX &&
    LONE_VARIABLE.test(reader.text.slice(start, end))
  );
}

const TARGET = /\$\{?([\p{L}\p{N}_:?]+)\}?$/u;

function readAssigned(
  reader: PsReader,
  operator: string | null,
  target: string,
  outer: readonly Assignment[],
): PsElement {
  const { text, findings } = reader;
  findings.constructs.add('assignment');
  reader.at += (matchHere(reader, ASSIGN) ?? matchHere(reader, IN))?.[0].length ?? 1;
  skipLines(reader);
  const start = reader.at;
  const name = TARGET.exec(target.slice(-NAME_LENGTH_MAX))?.[1] ?? target;
  const assignment: Assignment = { name, value: null, text: target };
  reader.depth += 1;
  const assigned = reader.readStatement(reader, operator, [...outer, assignment]);
  reader.depth -= 1;
  assignment.text = `${target} = ${text.slice(start, reader.at).trim()}`;
  if (assigned === null) {
    const segment = makeSegment('powershell', { text: assignment.text, words: [], operator });
    segment.assignments.push(assignment);
    findings.segments.push(segment);
    return { segment, word: null };
  }
  assignment.value = assigned.word;
  if (!assigned.segment.text.startsWith(target))
    assigned.segment.text = `${target} = ${assigned.segment.text}`;
  return assigned;
}

function readPart(reader: PsReader, expression: Expression): void {
  const { text } = reader;
  const char = text[reader.at] ?? '';
  expression.parts += 1;
  const start = reader.at;
  if (char === '(' && expression.isMember) expression.hasCall = true;
  if (char === '$') {
    readDollar(reader, expression.draft, false);
  } else if (readString(reader, expression.draft)) {
    // A string after a dot names a member just as a bare word does, so what was said of it still holds.
  } else if (char === '@' && '({'.includes(text[start + 1] ?? '-')) {
    reader.at += 1;
    readNested(reader, text[start + 1] === '(' ? ')' : '}', text[start + 1] === '{');
  } else if (char === '(' || char === '{') {
    reader.findings.constructs.add('group');
    readNested(reader, char === '(' ? ')' : '}');
    expression.isMember = false;
  } else {
    readOperator(reader, expression);
  }
}

function readOperator(reader: PsReader, expression: Expression): void {
  // A bare word or an operator is no value, so the expression is more than one word.
  expression.parts += 1;
  const member = matchHere(reader, MEMBER);
  const name = matchHere(reader, NAME);
  if (member !== null) {
    expression.isMember = true;
    reader.at += member[0].length;
  } else if (name !== null) {
    if (name[0].startsWith('-')) expression.isMember = false;
    reader.at += name[0].length;
  } else {
    if (!'[]'.includes(reader.text[reader.at] ?? '')) expression.isMember = false;
    reader.at += 1;
  }
}
