import { shown } from '../problems.ts';
import { readDelayed, readPercent } from './cmd_variables.ts';
import { addProblem, type Findings } from './findings.ts';

/** A character of a command line after carets are gone, or a variable in one piece. */
export interface Cell {
  text: string;
  /** Where it was written, in UTF-16 code units. */
  start: number;
  end: number;
  /** Whether double quotes or a caret keep cmd itself from seeing an operator in it. */
  guarded: boolean;
  variable: { name: string; plain: boolean } | null;
}

/** Where reading a command line has come to. */
export interface CmdReader {
  text: string;
  at: number;
  findings: Findings;
  /** Open parentheses of groups. */
  depth: number;
  /** Letters of `for` so far. */
  loopLetters: Set<string>;
}

/** What ends a word of cmd, the last three being taken so by some code pages only. */
export const CMD_BLANKS = ' \t,;=\v\f\u00a0';

/**
 * Reads up to a character of `stops`, a newline or the end, all as cmd sees them outside double quotes and carets
 * (phase 2 of its parser: a caret takes the next character as it stands, a quote lasts to the next one or the line's
 * end). With `inComment` a caret does not join lines.
 */
export function readCells(reader: CmdReader, stops: string, inComment = false): Cell[] {
  const { text, findings } = reader;
  const cells: Cell[] = [];
  let quoted = false;
  while (reader.at < text.length) {
    const start = reader.at;
    const char = text[start] ?? '';
    if (char === '\n' || (!quoted && stops.includes(char))) break;
    if (char === '^' && !quoted) {
      readCaret(reader, cells, inComment);
      continue;
    }
    if (readVariable(reader, cells, quoted)) continue;
    if (char === '"') quoted = !quoted;
    if (isControl(char)) {
      addProblem(findings, 'control_character', 'a control character is in the command');
    }
    reader.at += 1;
    if (char !== '\r') cells.push({ text: char, start, end: start + 1, guarded: quoted, variable: null });
  }
  if (quoted) addProblem(findings, 'syntax', 'a double quote is not closed');
  return cells;
}

function readCaret(reader: CmdReader, cells: Cell[], inComment: boolean): void {
  const { text, at } = reader;
  const next = text.startsWith('\r\n', at + 1) ? at + 2 : at + 1;
  const char = text[next];
  if (char === '\n') {
    reader.at = inComment ? next : next + 1;
  } else if (char === undefined) {
    reader.at = text.length;
  } else if (char === '%' || char === '!') {
    // Percent signs are read before carets: the caret goes, the sign is looked at again.
    reader.at = next;
    if (!readVariable(reader, cells, false)) {
      cells.push({ text: char, start: at, end: next + 1, guarded: true, variable: null });
      reader.at = next + 1;
    }
  } else {
    cells.push({ text: char, start: at, end: next + 1, guarded: true, variable: null });
    reader.at = next + 1;
  }
}

function readVariable(reader: CmdReader, cells: Cell[], guarded: boolean): boolean {
  const { text, at: start, findings, loopLetters } = reader;
  const sign = text[start];
  if (sign !== '%' && sign !== '!') return false;
  const variable = sign === '%' ? readPercent(text, start, loopLetters) : readDelayed(text, start);
  if (variable === null) {
    if (sign === '%') notePercentPair(reader);
    return false;
  }
  const { name, plain, end, reread } = variable;
  findings.constructs.add('parameter_expansion');
  const written = text.slice(start, end);
  if (reread) {
    addProblem(findings, 'hidden_command', `the value of ${shown(written)} is read as part of the command`);
  }
  cells.push({ text: written, start, end, guarded, variable: { name, plain } });
  reader.at = end;
  return true;
}

const LOOP_HEADER = /%%?[^\s%][ \t]+in[ \t]*\(/iy;

/** `% a & b %` is a variable of that odd name when there is one, and text with an operator when there is none. */
function notePercentPair({ text, at, findings }: CmdReader): void {
  LOOP_HEADER.lastIndex = at;
  if (LOOP_HEADER.test(text)) return;
  const close = text.indexOf('%', at + 1);
  if (close > at + 1 && !text.slice(at, close).includes('\n')) {
    addProblem(findings, 'hidden_command', 'text between two percent signs may be a variable');
  }
}

function isControl(char: string): boolean {
  return (char < ' ' && char !== '\t' && char !== '\r') || char === '\u007f' || char === '\u00a0';
}

/** Moves over blanks, `@` and whatever else cmd ignores before a command. */
export function skipBlanks(reader: CmdReader, ignored = `${CMD_BLANKS}\r`): void {
  while (reader.at < reader.text.length && ignored.includes(reader.text[reader.at] ?? '')) reader.at += 1;
}

export function toText(cells: readonly Cell[]): string {
  return cells.map(({ text }) => text).join('');
}
