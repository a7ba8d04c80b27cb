import type { Assignment, CommandAnalysis, Segment } from '../analysis.ts';
import { addProblem, beginFindings, type Findings, toAnalysis } from './findings.ts';
import { isCallOperator, readCommand } from './ps_command.ts';
import { isExpressionStart, readExpression } from './ps_expression.ts';
import { skipKeyword } from './ps_keywords.ts';
import { matchHere, type PsElement, type PsReader, readNested, skipLines, skipSpace } from './ps_reader.ts';

/** How many static texts of `Invoke-Expression` may stand in one another. */
const NESTING_MAX = 8;

/**
 * A PowerShell text taken apart (grammar of Windows PowerShell 5.1 and PowerShell 7, which also has `&&` and `||`).
 * Total, linear in the length of the text, and never shorter than what would run: script blocks, subexpressions, all
 * branches, and the static text of `Invoke-Expression` are among the segments. A method call and any other text that is
 * run are not understood.
 */
export function parsePowerShell(text: string): CommandAnalysis {
  const findings = beginFindings();
  const dropped = new Set<Segment>();
  readText(text, findings, dropped, 0);
  findings.segments = findings.segments.filter((segment) => !dropped.has(segment));
  return toAnalysis('powershell', findings);
}

const CONTROL = /\p{Cc}/u;

function readText(text: string, findings: Findings, dropped: Set<Segment>, nesting: number): void {
  if (nesting > NESTING_MAX) {
    addProblem(findings, 'too_deep', 'commands are nested too deep');
    return;
  }
  if (CONTROL.test(text.replaceAll(/[\t\r\n]/g, ''))) {
    addProblem(findings, 'control_character', 'a control character is in the command');
  }
  const reader: PsReader = {
    text,
    at: 0,
    findings,
    depth: 0,
    dropped,
    readStatements,
    readStatement,
    readStaticText: (inner) => readText(inner, findings, dropped, nesting + 1),
  };
  readStatements(reader, null, false);
}

const HASH_KEY = /(?:[\p{L}\p{N}_.-]+|'[^'\n]*'|"[^"$\n]*")\s*=/uy;

function readStatements(reader: PsReader, close: ')' | '}' | null, isHashTable: boolean): void {
  const { text, findings } = reader;
  let operator: string | null = null;
  for (;;) {
    skipLines(reader);
    const char = text[reader.at];
    if (char === undefined) {
      if (close !== null) addProblem(findings, 'syntax', 'a bracket is not closed');
      return;
    }
    if (char === ')' || char === '}') {
      reader.at += 1;
      if (char === close) return;
      addProblem(findings, 'syntax', 'a bracket closes nothing');
      continue;
    }
    if (char === ';') {
      reader.at += 1;
      continue;
    }
    if (isHashTable) reader.at += matchHere(reader, HASH_KEY)?.[0].length ?? 0;
    if (isHashTable) skipLines(reader);
    readStatement(reader, operator, []);
    operator = readSeparator(reader);
  }
}

/** What ends a statement: a newline, `;`, or `&`, which puts it in the background. */
function readSeparator(reader: PsReader): string | null {
  skipSpace(reader);
  const char = reader.text[reader.at];
  if (char === '\n') reader.findings.constructs.add('newline');
  if (char !== '\n' && char !== ';' && char !== '&') return null;
  if (char === '&') reader.findings.constructs.add('background');
  reader.at += 1;
  return char;
}

const JOINS = /\|\|?|&&/y;

/** A pipeline or a chain of them; answers with its first element, null when it has none. */
function readStatement(
  reader: PsReader,
  operator: string | null,
  assignments: Assignment[],
): PsElement | null {
  let isKeyword = skipKeyword(reader);
  while (isKeyword) isKeyword = skipKeyword(reader);
  skipSpace(reader);
  if (isStatementEnd(reader)) return null;
  const first = readElement(reader, operator, assignments, null);
  let previous = first;
  skipSpace(reader);
  let join = readJoin(reader);
  while (join !== null) {
    skipLines(reader);
    if (isStatementEnd(reader)) {
      addProblem(reader.findings, 'syntax', `nothing follows \`${join}\``);
      return first;
    }
    if (join === '|' && previous !== null) reader.dropped.delete(previous.segment);
    previous = readElement(reader, join, [], join === '|' ? previous : null);
    if (join === '|' && previous !== null) reader.dropped.delete(previous.segment);
    skipSpace(reader);
    join = readJoin(reader);
  }
  return first;
}

function isStatementEnd({ text, at }: PsReader): boolean {
  const char = text[at];
  return char === undefined || '\n;)}'.includes(char);
}

const LEADING_JOIN = /\n\s*(?=\||&&)/y;

/** PowerShell 7 also takes a pipe or chain operator at the start of the next line. */
function readJoin(reader: PsReader): string | null {
  const join = matchHere(reader, JOINS)?.[0] ?? null;
  if (join !== null) {
    reader.at += join.length;
    return join;
  }
  const leading = matchHere(reader, LEADING_JOIN);
  if (leading === null) return null;
  reader.at += leading[0].length;
  reader.findings.constructs.add('newline');
  return readJoin(reader);
}

function readElement(
  reader: PsReader,
  operator: string | null,
  assignments: Assignment[],
  piped: PsElement | null,
): PsElement | null {
  const { text, findings } = reader;
  const char = text[reader.at];
  if (char === '{') {
    findings.constructs.add('group');
    readNested(reader, '}');
    return null;
  }
  if (char === '|' || (char === '&' && !isCallOperator(reader))) {
    addProblem(findings, 'syntax', `no command stands before \`${char}\``);
    reader.at += 1;
    return null;
  }
  if (!isCallOperator(reader) && isExpressionStart(reader)) {
    return readExpression(reader, operator, assignments);
  }
  return readCommand(reader, operator, assignments, piped);
}
