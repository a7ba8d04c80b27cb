import type { Assignment } from '../analysis.ts';
import { type Cell, CMD_BLANKS, type CmdReader, readCells, skipBlanks, toText } from './cmd_cells.ts';
import { readWord } from './cmd_words.ts';
import { addProblem } from './findings.ts';

const TOKEN_STOPS = `${CMD_BLANKS}\r&|<>()`;
const UNARY_CONDITIONS = new Set(['errorlevel', 'exist', 'defined', 'cmdextversion']);
const COMPARISONS = new Set(['equ', 'neq', 'lss', 'leq', 'gtr', 'geq']);
const LOOP_VARIABLE = /^%%?([^\s%])$/;

/** The next token as cmd sees it, which is then read; empty at an operator or the end. */
export function readToken(reader: CmdReader): Cell[] {
  skipBlanks(reader);
  return readCells(reader, TOKEN_STOPS);
}

/** The next token without reading it. */
function peekToken(reader: CmdReader): string {
  const { at, findings } = reader;
  const problems = findings.problems.length;
  const text = toText(readToken(reader)).toLowerCase();
  reader.at = at;
  findings.problems.length = problems;
  return text;
}

/** Moves from after `if` to where its command starts. What is no condition is left to be read as a command. */
export function skipCondition(reader: CmdReader): void {
  let token = peekToken(reader);
  while (token === '/i' || token === 'not') {
    readToken(reader);
    token = peekToken(reader);
  }
  if (UNARY_CONDITIONS.has(token)) {
    readToken(reader);
    readToken(reader);
    return;
  }
  const start = reader.at;
  readToken(reader);
  if (!skipComparison(reader)) {
    addProblem(reader.findings, 'syntax', 'the condition of `if` is not understood');
    reader.at = start;
    return;
  }
  readToken(reader);
}

function skipComparison(reader: CmdReader): boolean {
  const { text } = reader;
  while (' \t,;'.includes(text[reader.at] ?? '-')) reader.at += 1;
  if (text.startsWith('==', reader.at)) {
    reader.at += 2;
    return true;
  }
  if (!COMPARISONS.has(peekToken(reader))) return false;
  readToken(reader);
  return true;
}

export interface CmdLoop {
  /** What its variable stands for in turn, as one word; null when it is read from a file or a command. */
  assignment: Assignment;
  /** The command line whose output `for /f` goes through; null when there is none. */
  command: string | null;
}

/** Moves from after `for` to where its command starts; null, with a problem, when it is no loop. */
export function readLoopHeader(reader: CmdReader): CmdLoop | null {
  const start = reader.at;
  const loop = readLoopSet(reader);
  if (loop !== null && peekToken(reader) === 'do') {
    readToken(reader);
    return loop;
  }
  addProblem(reader.findings, 'syntax', '`for` is not understood');
  reader.at = start;
  return null;
}

/** Options and their values stand before the variable: `/r` and a path, `/f` and its keywords. */
const HEADER_TOKENS_MAX = 6;

function readLoopSet(reader: CmdReader): CmdLoop | null {
  const start = reader.at;
  const header: string[] = [];
  while (header.at(-1)?.toLowerCase() !== 'in') {
    const token = toText(readToken(reader));
    if (token === '' || header.length >= HEADER_TOKENS_MAX) return null;
    header.push(token);
  }
  const letter = LOOP_VARIABLE.exec(header.at(-2) ?? '')?.[1];
  skipBlanks(reader);
  if (letter === undefined || reader.text[reader.at] !== '(') return null;
  reader.at += 1;
  const cells = readSet(reader);
  if (cells === null) return null;
  reader.loopLetters.add(letter);
  const text = reader.text.slice(start, reader.at).trim();
  const set = toText(cells).trim();
  const isRead = header[0]?.toLowerCase() === '/f' && !set.startsWith('"');
  const isCommand = isRead && (set.startsWith("'") || set.startsWith('`'));
  return {
    assignment: { name: letter, value: isRead ? null : readWord(cells, reader.text), text },
    command: isCommand ? set.slice(1, set.length > 1 && set.endsWith(set.charAt(0)) ? -1 : undefined) : null,
  };
}

/** The set up to its parenthesis, over as many lines as it has; null when there is none. */
function readSet(reader: CmdReader): Cell[] | null {
  const cells = readCells(reader, ')');
  while (reader.text[reader.at] === '\n') {
    reader.at += 1;
    cells.push({ text: ' ', start: reader.at - 1, end: reader.at, guarded: false, variable: null });
    for (const cell of readCells(reader, ')')) cells.push(cell);
  }
  if (reader.text[reader.at] !== ')') return null;
  reader.at += 1;
  return cells;
}
