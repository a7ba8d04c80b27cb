import type { Assignment, Segment, Word } from '../analysis.ts';
import { addProblem, type Findings } from './findings.ts';

/** What one element of a pipeline turned out to be. */
export interface PsElement {
  segment: Segment;
  /** The one word of an expression that is nothing else. */
  word: Word | null;
}

/** Where reading a PowerShell text has come to. */
export interface PsReader {
  text: string;
  at: number;
  findings: Findings;
  /** Brackets that are open. */
  depth: number;
  /** Expressions that run nothing and go nowhere. */
  dropped: Set<Segment>;
  /** Reads statements up to and with the bracket that closes them; those of a hash table follow a key each. */
  readStatements(reader: PsReader, close: ')' | '}', isHashTable: boolean): void;
  /** Reads a text that the commands of this one run. */
  readStaticText(text: string): void;
  /** Reads the right side of an assignment. */
  readStatement(reader: PsReader, operator: string | null, assignments: Assignment[]): PsElement | null;
}

/** Brackets, and assignments whose value is another, in one another. */
export const DEPTH_MAX = 64;

const SPACE = /[^\S\n]/;

/** Reads what stands in brackets, from the opening one, which is at the place read next. */
export function readNested(reader: PsReader, close: ')' | '}', isHashTable = false): void {
  reader.at += 1;
  if (reader.depth >= DEPTH_MAX) {
    addProblem(reader.findings, 'too_deep', 'brackets are nested too deep');
    return;
  }
  reader.depth += 1;
  reader.readStatements(reader, close, isHashTable);
  reader.depth -= 1;
}

export function isSpace(char: string | undefined): boolean {
  return char !== undefined && SPACE.test(char);
}

/** Moves over blanks, comments and lines that a backtick joins. */
export function skipSpace(reader: PsReader): void {
  const { text, findings } = reader;
  for (;;) {
    const char = text[reader.at];
    if (isSpace(char)) {
      reader.at += 1;
    } else if (char === '`' && /^\r?\n/.test(text.slice(reader.at + 1, reader.at + 3))) {
      reader.at += text[reader.at + 1] === '\r' ? 3 : 2;
    } else if (char === '#') {
      const end = text.indexOf('\n', reader.at);
      reader.at = end === -1 ? text.length : end;
      findings.constructs.add('comment');
    } else if (char === '<' && text[reader.at + 1] === '#') {
      const end = text.indexOf('#>', reader.at + 2);
      if (end === -1) addProblem(findings, 'syntax', 'a comment is not closed');
      reader.at = end === -1 ? text.length : end + 2;
      findings.constructs.add('comment');
    } else {
      return;
    }
  }
}

/** Moves over blanks, comments and newlines, where a statement cannot end. */
export function skipLines(reader: PsReader): void {
  skipSpace(reader);
  while (reader.text[reader.at] === '\n') {
    reader.findings.constructs.add('newline');
    reader.at += 1;
    skipSpace(reader);
  }
}

/** The match of a sticky pattern at the place read next. */
export function matchHere({ text, at }: PsReader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
