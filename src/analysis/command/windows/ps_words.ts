import type { Word } from '../analysis.ts';
import { addProblem } from './findings.ts';
import { isSpace, matchHere, type PsReader, readNested } from './ps_reader.ts';
import { addLiteral, addPiece, beginWord, finishWord, type WordDraft } from './word_draft.ts';

/** PowerShell takes typographic quotes for the plain ones (about_Quoting_Rules). */
export const SINGLE_QUOTES = "'\u2018\u2019\u201a\u201b";
export const DOUBLE_QUOTES = '"\u201c\u201d\u201e';

const WORD_STOPS = '\n;|&(){},<>';
/** A brace in a name stands behind a backtick, so what is never closed is not read on past the next one. */
const VARIABLE = /\$(?:\{((?:[^{}`\n]|`[^\n])*)\}|((?:[\p{L}\p{N}_]+:(?!:))?[\p{L}\p{N}_?]+)|([$?^]))/uy;
const SPLAT = /@([\p{L}_][\p{L}\p{N}_]*)/uy;
const MEMBERS = /(?:(?:\.|::)[\p{L}_][\p{L}\p{N}_]*|\[[^[\]\n]{0,200}\])+/uy;
const HERE_STRING = /@(['"\u2018-\u201e])[^\S\n]*\n/uy;

const ESCAPES: Record<string, string> = {
  '0': '\0',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/**
 * Reads one argument, or a name, as PowerShell's command mode has it (about_Parsing). A word that starts with a quote
 * ends with it; within a bare word quotes only join.
 */
export function readPsWord(reader: PsReader): Word {
  const start = reader.at;
  const draft = beginWord();
  const char = reader.text[start] ?? '';
  if (!readString(reader, draft) && !readBracket(reader, draft, char)) readBareWord(reader, draft);
  readMembers(reader, draft);
  if (reader.at === start) reader.at += 1;
  return finishWord(draft, reader.text.slice(start, reader.at));
}

function readBareWord(reader: PsReader, draft: WordDraft): void {
  const { text } = reader;
  const start = reader.at;
  while (reader.at < text.length) {
    const char = text[reader.at] ?? '';
    if (isSpace(char) || WORD_STOPS.includes(char)) return;
    if (char === '$') {
      readDollar(reader, draft, false);
      if (reader.at > start) readMembers(reader, draft);
    } else if (char === '`') {
      if (/^\r?\n/.test(text.slice(reader.at + 1, reader.at + 3))) return;
      addLiteral(draft, readEscape(reader), true);
    } else if (!readString(reader, draft)) {
      addLiteral(draft, char, false);
      reader.at += 1;
    }
  }
}

/** `(…)`, `@(…)`, `{…}`, `@{…}` and `@name` where a word starts. */
function readBracket(reader: PsReader, draft: WordDraft, char: string): boolean {
  const { text, findings } = reader;
  const start = reader.at;
  const opening = char === '@' ? text[start + 1] : char;
  const splat = matchHere(reader, SPLAT);
  if (splat !== null) {
    reader.at += splat[0].length;
    findings.constructs.add('parameter_expansion');
    addPiece(draft, { kind: 'variable', name: splat[1] ?? '', plain: false, text: splat[0], quoted: false });
    return true;
  }
  if (opening !== '(' && opening !== '{') return false;
  if (char === '@') reader.at += 1;
  findings.constructs.add(opening === '(' ? 'command_substitution' : 'group');
  readNested(reader, opening === '(' ? ')' : '}', char === '@' && opening === '{');
  addPiece(draft, { kind: 'dynamic', text: text.slice(start, reader.at) });
  return true;
}

/** Members and indexes right behind a value; a call of a method runs what cannot be known. */
function readMembers(reader: PsReader, draft: WordDraft): void {
  if (draft.pieces.length === 0 || draft.pieces.at(-1)?.kind === 'literal') return;
  let members = matchHere(reader, MEMBERS);
  while (members !== null) {
    const start = reader.at;
    reader.at += members[0].length;
    if (reader.text[reader.at] === '(') {
      addProblem(reader.findings, 'hidden_command', 'what a method call runs is not known');
      readNested(reader, ')');
    }
    addPiece(draft, { kind: 'dynamic', text: reader.text.slice(start, reader.at) });
    members = matchHere(reader, MEMBERS);
  }
}

/** A quoted string or here-string at the place read next; false when there is none. */
export function readString(reader: PsReader, draft: WordDraft): boolean {
  const char = reader.text[reader.at] ?? '';
  if (char === '') return false;
  if (SINGLE_QUOTES.includes(char)) {
    readSingle(reader, draft);
  } else if (DOUBLE_QUOTES.includes(char)) {
    readDouble(reader, draft);
  } else {
    return char === '@' && readHereString(reader, draft);
  }
  return true;
}

function readSingle(reader: PsReader, draft: WordDraft): void {
  const { text } = reader;
  reader.at += 1;
  addLiteral(draft, '', true);
  while (reader.at < text.length) {
    const char = text[reader.at] ?? '';
    const isQuote = SINGLE_QUOTES.includes(char);
    const isDoubled = isQuote && SINGLE_QUOTES.includes(text[reader.at + 1] ?? '-');
    reader.at += isDoubled ? 2 : 1;
    if (isQuote && !isDoubled) return;
    addLiteral(draft, char, true);
  }
  addProblem(reader.findings, 'syntax', 'a single quote is not closed');
}

function readDouble(reader: PsReader, draft: WordDraft): void {
  const { text } = reader;
  reader.at += 1;
  addLiteral(draft, '', true);
  while (reader.at < text.length) {
    const char = text[reader.at] ?? '';
    const isQuote = DOUBLE_QUOTES.includes(char);
    if (isQuote && !DOUBLE_QUOTES.includes(text[reader.at + 1] ?? '-')) {
      reader.at += 1;
      return;
    }
    readQuotedCharacter(reader, draft, isQuote);
  }
  addProblem(reader.findings, 'syntax', 'a double quote is not closed');
}

function readQuotedCharacter(reader: PsReader, draft: WordDraft, isDoubledQuote: boolean): void {
  const char = reader.text[reader.at] ?? '';
  if (char === '$') {
    readDollar(reader, draft, true);
  } else if (char === '`') {
    addLiteral(draft, readEscape(reader), true);
  } else {
    addLiteral(draft, char, true);
    reader.at += isDoubledQuote ? 2 : 1;
  }
}

function readHereString(reader: PsReader, draft: WordDraft): boolean {
  const { text, findings } = reader;
  const opening = matchHere(reader, HERE_STRING);
  if (opening === null) return false;
  const quote = opening[1] ?? '';
  const isSingle = SINGLE_QUOTES.includes(quote);
  const close = `\n${isSingle ? "'" : '"'}@`;
  findings.constructs.add('here_document');
  reader.at += opening[0].length;
  addLiteral(draft, '', true);
  const end = text.startsWith(close.slice(1), reader.at) ? reader.at - 1 : text.indexOf(close, reader.at);
  if (end === -1) addProblem(findings, 'syntax', 'a here-string is not closed');
  const stop = end === -1 ? text.length : end;
  if (isSingle) addLiteral(draft, text.slice(reader.at, Math.max(stop, reader.at)), true);
  while (!isSingle && reader.at < stop) readQuotedCharacter(reader, draft, false);
  reader.at = Math.max(reader.at, Math.min(stop + close.length, text.length));
  return true;
}

/** Reads what a dollar sign starts: a variable, a subexpression, or itself. */
export function readDollar(reader: PsReader, draft: WordDraft, quoted: boolean): void {
  const { text, at: start, findings } = reader;
  if (text[start + 1] === '(') {
    findings.constructs.add('command_substitution');
    reader.at += 1;
    readNested(reader, ')');
    addPiece(draft, { kind: 'dynamic', text: text.slice(start, reader.at) });
    return;
  }
  const variable = matchHere(reader, VARIABLE);
  if (variable === null) {
    addLiteral(draft, '$', quoted);
    reader.at += 1;
    return;
  }
  findings.constructs.add('parameter_expansion');
  reader.at += variable[0].length;
  const name = variable[1] ?? variable[2] ?? variable[3] ?? '';
  addPiece(draft, { kind: 'variable', name, plain: true, text: variable[0], quoted });
}

const UNICODE_ESCAPE = /`u\{([0-9a-f]{1,6})\}/iy;

/** Windows PowerShell has no `` `e `` and no `` `u{…} ``: there they are letters, so what such a word is depends on it. */
function readEscape(reader: PsReader): string {
  const unicode = matchHere(reader, UNICODE_ESCAPE);
  const point = Number.parseInt(unicode?.[1] ?? '', 16);
  const next = String.fromCodePoint(reader.text.codePointAt(reader.at + 1) ?? 0x60);
  if (unicode !== null || next === 'e') {
    addProblem(reader.findings, 'control_character', 'an escape is read by some versions of PowerShell only');
  }
  if (unicode !== null && point <= 0x10ffff) {
    reader.at += unicode[0].length;
    return String.fromCodePoint(point);
  }
  reader.at = Math.min(reader.at + 1 + next.length, reader.text.length);
  return ESCAPES[next] ?? next;
}
