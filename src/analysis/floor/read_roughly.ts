import type { Piece, Word } from '../command/analysis.ts';
import { decodeEscapes } from './decode_escapes.ts';
import { skipNested } from './skip_nested.ts';

/** A word or an operator of shell text. */
export type RoughToken = { kind: 'word'; word: Word } | { kind: 'operator'; text: string };

const OPERATORS = '&>> <<< <<- && || |& ;; >> << >& <& >| <> &>'.split(' ');
const SINGLE_OPERATORS = ';&|()<>\n';
const WORD_END = ' \t\r;&|()<>\n';
const NAME = /[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]/y;
/** Runs of characters that stand for themselves. */
const PLAIN = /[^ \t\r;&|()<>\n$`"'*?[{\\]*/y;
const PLAIN_IN_QUOTES = /[^"\\$`]*/y;

interface Cursor {
  text: string;
  at: number;
  braces: BracePairs;
}

/** Where braces that expand open and close, up to a place in the text. */
interface BracePairs {
  closes: Map<number, number>;
  until: number;
}

function startAt(text: string): Cursor {
  return { text, at: 0, braces: { closes: new Map(), until: 0 } };
}

/** Where the run of such characters from here ends. */
function endOfRun(run: RegExp, text: string, at: number): number {
  run.lastIndex = at;
  run.test(text);
  return run.lastIndex;
}

function nameAt(text: string, at: number): string {
  NAME.lastIndex = at;
  return NAME.exec(text)?.[0] ?? '';
}

/** A `$` and what belongs to it. */
function readDollar(cursor: Cursor, quoted: boolean): Piece {
  const { text, at } = cursor;
  const next = text.charAt(at + 1);
  if (next === '(') {
    cursor.at = skipNested(text, at + 2, ')');
    return { kind: 'dynamic', text: text.slice(at, cursor.at) };
  }
  if (next === '{') {
    cursor.at = skipNested(text, at + 2, '}');
    const inside = text.slice(at + 2, text.charAt(cursor.at - 1) === '}' ? cursor.at - 1 : cursor.at);
    const name = nameAt(inside.replace(/^[!#]/, ''), 0);
    return { kind: 'variable', name, plain: name === inside, text: text.slice(at, cursor.at), quoted };
  }
  if ((next === "'" || next === '"') && !quoted) {
    if (next === '"') {
      cursor.at = at + 1;
      return { kind: 'literal', text: '', quoted };
    }
    cursor.at = skipAnsiQuote(text, at + 2);
    return { kind: 'literal', text: decodeEscapes(text.slice(at + 2, cursor.at - 1)), quoted: true };
  }
  const name = nameAt(text, at + 1);
  cursor.at = at + 1 + name.length;
  return name === ''
    ? { kind: 'literal', text: '$', quoted }
    : { kind: 'variable', name, plain: true, text: `$${name}`, quoted };
}

function skipAnsiQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charAt(at) !== "'") at += text.charAt(at) === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length + 1);
}

function readDoubleQuoted(cursor: Cursor, pieces: Piece[]): void {
  const { text } = cursor;
  let literal = '';
  const flush = () => {
    pieces.push({ kind: 'literal', text: literal, quoted: true });
    literal = '';
  };
  cursor.at += 1;
  while (cursor.at < text.length && text.charAt(cursor.at) !== '"') {
    const letter = text.charAt(cursor.at);
    const next = text.charAt(cursor.at + 1);
    if (letter === '\\' && '$`"\\\n'.includes(next)) {
      literal += next === '\n' ? '' : next;
      cursor.at += 2;
    } else if (letter === '$' || letter === '`') {
      flush();
      pieces.push(letter === '$' ? readDollar(cursor, true) : readBackticks(cursor));
    } else {
      // A backslash before an ordinary character stands for itself.
      const end = endOfRun(PLAIN_IN_QUOTES, text, letter === '\\' ? cursor.at + 1 : cursor.at);
      literal += text.slice(cursor.at, end);
      cursor.at = end;
    }
  }
  cursor.at += 1;
  flush();
}

function readBackticks(cursor: Cursor): Piece {
  const { text, at } = cursor;
  cursor.at = skipNested(text, at + 1, '`');
  return { kind: 'dynamic', text: text.slice(at, cursor.at) };
}

/** Pairs the braces from here to the end of the word, once for all of them. */
function pairBraces(cursor: Cursor): void {
  const open: { start: number; expands: boolean }[] = [];
  let at = cursor.at;
  for (; at < cursor.text.length; at += 1) {
    const letter = cursor.text.charAt(at);
    if (WORD_END.includes(letter)) break;
    const innermost = open.at(-1);
    if (letter === '{') open.push({ start: at, expands: false });
    else if (letter === '}') {
      open.pop();
      if (innermost?.expands) cursor.braces.closes.set(innermost.start, at);
    } else if (innermost !== undefined && (letter === ',' || cursor.text.startsWith('..', at))) {
      innermost.expands = true;
    }
  }
  cursor.braces.until = at;
}

function readBraces(cursor: Cursor): Piece {
  const { text, at } = cursor;
  if (at >= cursor.braces.until) pairBraces(cursor);
  const close = cursor.braces.closes.get(at);
  if (close !== undefined) {
    cursor.at = close + 1;
    return { kind: 'dynamic', text: text.slice(at, close + 1) };
  }
  cursor.at += 1;
  return { kind: 'literal', text: '{', quoted: false };
}

function readTilde(cursor: Cursor): Piece {
  const user = /^[A-Za-z0-9_+.-]*/.exec(cursor.text.slice(cursor.at + 1, cursor.at + 40))?.[0] ?? '';
  cursor.at += 1 + user.length;
  return { kind: 'tilde', user };
}

function readGlob(cursor: Cursor): Piece {
  const { text, at } = cursor;
  if (text.charAt(at) === '[') {
    const close = text.slice(at, at + 80).indexOf(']', 2);
    cursor.at = close === -1 ? at + 1 : at + close + 1;
    return close === -1
      ? { kind: 'literal', text: '[', quoted: false }
      : { kind: 'glob', text: text.slice(at, cursor.at) };
  }
  cursor.at += 1;
  return { kind: 'glob', text: text.charAt(at) };
}

function readPlain(cursor: Cursor, pieces: Piece[]): void {
  const { text } = cursor;
  let literal = '';
  while (cursor.at < text.length) {
    const end = endOfRun(PLAIN, text, cursor.at);
    literal += text.slice(cursor.at, end);
    cursor.at = end;
    if (text.charAt(end) !== '\\') break;
    const next = text.charAt(end + 1);
    literal += next === '\n' ? '' : next;
    cursor.at += 2;
  }
  pieces.push({ kind: 'literal', text: literal, quoted: false });
}

/** Reads one piece, or a run of them, and moves on by at least one character. */
function readPieces(cursor: Cursor, pieces: Piece[]): void {
  const { text, at } = cursor;
  const letter = text.charAt(at);
  if (letter === "'") {
    const end = text.indexOf("'", at + 1);
    cursor.at = end === -1 ? text.length : end + 1;
    pieces.push({ kind: 'literal', text: text.slice(at + 1, end === -1 ? text.length : end), quoted: true });
  } else if (letter === '"') readDoubleQuoted(cursor, pieces);
  else if (letter === '$') pieces.push(readDollar(cursor, false));
  else if (letter === '`') pieces.push(readBackticks(cursor));
  else if (letter === '{') pieces.push(readBraces(cursor));
  else if (letter === '*' || letter === '?' || letter === '[') pieces.push(readGlob(cursor));
  else if (letter === '~' && pieces.length === 0) pieces.push(readTilde(cursor));
  else readPlain(cursor, pieces);
}

function fixedValue(pieces: readonly Piece[]): string | null {
  let value = '';
  for (const piece of pieces) {
    if (piece.kind !== 'literal') return null;
    value += piece.text;
  }
  return value;
}

function readWord(cursor: Cursor): Word {
  const start = cursor.at;
  const end = endOfRun(PLAIN, cursor.text, start);
  if (end > start && endsWord(cursor.text, end) && cursor.text.charAt(start) !== '~') {
    cursor.at = end;
    const text = cursor.text.slice(start, end);
    return { text, value: text, pieces: [{ kind: 'literal', text, quoted: false }] };
  }
  const pieces: Piece[] = [];
  while (!endsWord(cursor.text, cursor.at)) {
    readPieces(cursor, pieces);
  }
  return { text: cursor.text.slice(start, cursor.at), value: fixedValue(pieces), pieces };
}

function endsWord(text: string, at: number): boolean {
  return at >= text.length || WORD_END.includes(text.charAt(at));
}

function operatorAt(text: string, at: number): string | null {
  const letter = text.charAt(at);
  if (!SINGLE_OPERATORS.includes(letter)) return null;
  return OPERATORS.find((operator) => text.startsWith(operator, at)) ?? letter;
}

/** Past the bodies of the here-documents whose delimiters are given. */
function skipHereDocuments(text: string, start: number, delimiters: readonly string[]): number {
  let at = start;
  for (const delimiter of delimiters) {
    let isLast = false;
    while (!isLast && at < text.length) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end === -1 ? text.length : end);
      isLast = line.replace(/^\t+/, '') === delimiter;
      at = end === -1 ? text.length : end + 1;
    }
  }
  return at;
}

/**
 * Words and operators of any text, as a POSIX shell might read it, whatever is wrong with it: for text that no parser
 * accepts, and for the shapes that a list of commands does not keep. Never throws; its time is linear.
 */
export function readRoughly(text: string): RoughToken[] {
  const tokens: RoughToken[] = [];
  const cursor = startAt(text);
  let delimiters: string[] = [];
  while (cursor.at < text.length) {
    const letter = text.charAt(cursor.at);
    const operator = operatorAt(text, cursor.at);
    if (letter === ' ' || letter === '\t' || letter === '\r') cursor.at += 1;
    else if (letter === '\\' && text.charAt(cursor.at + 1) === '\n') cursor.at += 2;
    else if (letter === '#') cursor.at = endOfLine(text, cursor.at);
    else if (operator !== null) {
      cursor.at += operator.length;
      tokens.push({ kind: 'operator', text: operator });
      if (operator === '\n' && delimiters.length > 0) {
        cursor.at = skipHereDocuments(text, cursor.at, delimiters);
        delimiters = [];
      }
    } else {
      const last = tokens.at(-1);
      const word = readWord(cursor);
      if (last?.kind === 'operator' && (last.text === '<<' || last.text === '<<-')) {
        delimiters.push(word.value ?? word.text);
      }
      tokens.push({ kind: 'word', word });
    }
  }
  return tokens;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** The pieces of text that stands inside a parameter or braces, where blanks and operators are ordinary. */
export function readAsWord(text: string): Word {
  const cursor = startAt(text);
  const pieces: Piece[] = [];
  while (cursor.at < text.length) {
    if (WORD_END.includes(text.charAt(cursor.at))) {
      pieces.push({ kind: 'literal', text: text.charAt(cursor.at), quoted: false });
      cursor.at += 1;
    } else {
      readPieces(cursor, pieces);
    }
  }
  return { text, value: null, pieces };
}
