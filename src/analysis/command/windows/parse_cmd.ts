import type { Assignment, CommandAnalysis, Redirection } from '../analysis.ts';
import { shown } from '../problems.ts';
import { type Cell, CMD_BLANKS, type CmdReader, readCells, skipBlanks, toText } from './cmd_cells.ts';
import { readLoopHeader, readToken, skipCondition } from './cmd_control_flow.ts';
import { readWord, splitCmdWords } from './cmd_words.ts';
import { addProblem, beginFindings, type Findings, makeSegment, toAnalysis } from './findings.ts';

/** How many `for /f ('…')` may stand in one another. */
const NESTING_MAX = 8;

/** What the next thing read belongs to. */
interface Line extends CmdReader {
  /** What joins the next segment to the one before. */
  operator: string | null;
  /** The loop that each letter belongs to. */
  loops: Map<string, Assignment>;
  nesting: number;
  /** Whether a command, or a closed group, has just ended, so that an operator may follow. */
  isAfterCommand: boolean;
  isAfterGroup: boolean;
}

/**
 * A command line as cmd.exe reads it, taken apart. Total, linear in the length of the text, and never shorter than what
 * would run: both branches of `if`, the body of `for`, the command behind `call` and `start`. Any `%NAME%` makes it not
 * understood, since cmd reads the value as part of the line; so does whatever is no command line. Wildcards are text:
 * the program gets them as written.
 */
export function parseCmd(text: string): CommandAnalysis {
  const findings = beginFindings();
  readLines(text, findings, 0);
  return toAnalysis('cmd', findings);
}

function readLines(text: string, findings: Findings, nesting: number): void {
  const line: Line = {
    text,
    findings,
    nesting,
    at: 0,
    depth: 0,
    loopLetters: new Set(),
    operator: null,
    loops: new Map(),
    isAfterCommand: false,
    isAfterGroup: false,
  };
  while (line.at < text.length) readNext(line);
  if (line.depth > 0) addProblem(findings, 'syntax', 'a parenthesis is not closed');
  if (line.operator !== null && !line.isAfterCommand && !['&', '\n'].includes(line.operator)) {
    addProblem(findings, 'syntax', `nothing follows \`${line.operator}\``);
  }
}

function readNext(line: Line): void {
  skipBlanks(line, line.isAfterCommand ? `${CMD_BLANKS}\r` : `${CMD_BLANKS}@\r`);
  const char = line.text[line.at];
  if (char === undefined) return;
  if (char === '\n' || char === '&' || char === '|') {
    readOperator(line, char);
  } else if (char === ')') {
    closeGroup(line);
  } else if (line.isAfterGroup) {
    readAfterGroup(line);
  } else if (char === '(') {
    line.findings.constructs.add('group');
    line.depth += 1;
    line.at += 1;
  } else if (char === ':') {
    line.findings.constructs.add('comment');
    readCells(line, '&|', true);
    endCommand(line, false);
  } else {
    readCommand(line);
  }
}

function readOperator(line: Line, char: string): void {
  const isDouble = char !== '\n' && line.text[line.at + 1] === char;
  const operator = isDouble ? char + char : char;
  if (!line.isAfterCommand && char !== '\n') {
    addProblem(line.findings, 'syntax', `no command stands before \`${operator}\``);
  }
  if (char === '\n') {
    line.findings.constructs.add('newline');
    if (!line.isAfterCommand && line.operator !== null && !['&', '\n'].includes(line.operator)) {
      addProblem(line.findings, 'syntax', `nothing follows \`${line.operator}\``);
    }
  }
  line.at += operator.length;
  line.operator = operator;
  line.isAfterCommand = false;
  line.isAfterGroup = false;
}

function closeGroup(line: Line): void {
  line.at += 1;
  if (line.depth === 0) {
    addProblem(line.findings, 'syntax', 'a parenthesis closes nothing');
    return;
  }
  line.depth -= 1;
  endCommand(line, true);
}

function endCommand(line: Line, isGroup: boolean): void {
  line.isAfterCommand = true;
  line.isAfterGroup = isGroup;
}

const GROUP_REDIRECTION = /[0-9]?[<>]/y;

/** What may follow a closed group: `else`, or redirections of all of it. */
function readAfterGroup(line: Line): void {
  const { at } = line;
  line.isAfterGroup = false;
  line.isAfterCommand = false;
  GROUP_REDIRECTION.lastIndex = at;
  if (GROUP_REDIRECTION.test(line.text)) {
    readSimple(line, at);
    endCommand(line, true);
    return;
  }
  if (toText(readToken(line)).toLowerCase() === 'else') {
    line.operator = null;
    return;
  }
  addProblem(line.findings, 'syntax', 'a command follows a group with no operator between');
  line.at = at;
}

const KEYWORDS = new Set(['if', 'for', 'rem', 'call', 'start']);

/** Keywords and commands that run another; the rest is a simple command. */
function readCommand(line: Line): void {
  const start = line.at;
  for (;;) {
    skipBlanks(line, `${CMD_BLANKS}@\r`);
    const at = line.at;
    const keyword = readKeyword(line);
    if (!KEYWORDS.has(keyword)) {
      line.at = at;
      if (line.text[at] !== '(' || at === start) readSimple(line, start);
      return;
    }
    if (keyword !== 'call' && keyword !== 'start') {
      readKeywordLine(line, keyword);
      return;
    }
    if (keyword === 'start') {
      skipStartOptions(line);
      noteDocument(line);
    }
    skipBlanks(line);
    const next = line.text[line.at];
    if (next === ':') addProblem(line.findings, 'hidden_command', 'what `call` of a label runs is not known');
    if (next === undefined || '&|\n)'.includes(next)) {
      endCommand(line, false);
      return;
    }
  }
}

/** Letters of the next name, carets gone, in lower case. */
function readKeyword(line: Line): string {
  const { findings } = line;
  const problems = findings.problems.length;
  const cells = readCells(line, `${CMD_BLANKS}\r&|<>()/:.\\"`);
  findings.problems.length = problems;
  return toText(cells.filter(({ variable }) => variable === null)).toLowerCase();
}

/**
 * `if` and `for` up to their command. Text after `rem` is no command up to an operator; what follows that may be one or
 * not, so it counts as one.
 */
function readKeywordLine(line: Line, keyword: string): void {
  if (keyword === 'rem') {
    line.findings.constructs.add('comment');
    readCells(line, '&|', true);
    endCommand(line, false);
    return;
  }
  line.findings.constructs.add('control_flow');
  line.isAfterCommand = false;
  if (keyword === 'if') {
    skipCondition(line);
    return;
  }
  const loop = readLoopHeader(line);
  if (loop === null) return;
  line.loops.set(loop.assignment.name, loop.assignment);
  if (loop.command === null) return;
  line.findings.constructs.add('command_substitution');
  if (line.nesting >= NESTING_MAX) {
    addProblem(line.findings, 'too_deep', 'commands are nested too deep');
  } else {
    readLines(loop.command, line.findings, line.nesting + 1);
  }
}

const START_VALUES = new Set(['/d', '/node', '/affinity', '/machine']);

/** `start ["title"] [/options] command`. */
function skipStartOptions(line: Line): void {
  skipBlanks(line);
  if (line.text[line.at] === '"') readToken(line);
  skipBlanks(line);
  while (line.text[line.at] === '/') {
    if (START_VALUES.has(toText(readToken(line)).toLowerCase())) readToken(line);
    skipBlanks(line);
  }
}

/** A path or a URL that is no program is opened by whatever is registered for it. */
function noteDocument(line: Line): void {
  const { at, findings } = line;
  const problems = findings.problems.length;
  const target = toText(readToken(line)).replaceAll('"', '');
  findings.problems.length = problems;
  line.at = at;
  const name = target.slice(target.lastIndexOf('\\') + 1);
  if (/^[a-z][a-z0-9+.-]+:/i.test(target) || (name.includes('.') && !/\.(?:exe|com|bat|cmd)$/i.test(name))) {
    addProblem(findings, 'hidden_command', `what \`start\` opens ${shown(target)} with is not known`);
  }
}

function readSimple(line: Line, start: number): void {
  const { findings, text } = line;
  const redirections: Redirection[] = [];
  const cells: Cell[] = [];
  const stops = line.depth > 0 ? '&|<>)' : '&|<>';
  for (;;) {
    for (const cell of readCells(line, stops)) cells.push(cell);
    if (!'<>'.includes(text[line.at] ?? '-')) break;
    redirections.push(readRedirection(line, cells));
  }
  const { words, isCutPath } = splitCmdWords(cells, text);
  const name = words[0];
  const used = new Set(cells.flatMap(({ variable }) => (variable === null ? [] : [variable.name])));
  const written = text.slice(start, line.at).trim();
  const segment = makeSegment('cmd', {
    text: written,
    words,
    assignments: [...used].flatMap((letter) => line.loops.get(letter) ?? []),
    redirections,
    operator: line.operator,
  });
  if (isCutPath) addProblem(findings, 'syntax', `\`/\` ends the name in ${shown(written)}`);
  if (name !== undefined && name.value === null) {
    segment.understood = false;
    addProblem(findings, 'dynamic_name', `what ${shown(name.text)} runs is not known`);
  }
  if (name !== undefined || redirections.length > 0) findings.segments.push(segment);
  line.operator = null;
  endCommand(line, false);
}

function readRedirection(line: Line, cells: Cell[]): Redirection {
  const { text, findings } = line;
  findings.constructs.add('redirection');
  const handle = cells.at(-1);
  const isHandle =
    handle !== undefined &&
    /^[0-9]$/.test(handle.text) &&
    !handle.guarded &&
    CMD_BLANKS.includes(cells.at(-2)?.text ?? ' ');
  if (isHandle) cells.pop();
  const sign = text[line.at] ?? '';
  let operator = text.startsWith('>>', line.at) ? '>>' : sign;
  line.at += operator.length;
  if (text[line.at] === '&') {
    operator += '&';
    line.at += 1;
  }
  const target = readToken(line);
  if (target.length === 0) addProblem(findings, 'syntax', 'a redirection has no target');
  cells.push({ text: ' ', start: line.at, end: line.at, guarded: false, variable: null });
  return {
    operator: `${isHandle ? handle.text : ''}${operator}`,
    target: target.length === 0 ? null : readWord(target, text),
    body: null,
  };
}
