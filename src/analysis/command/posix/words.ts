import type { Word as WordNode, WordPart } from 'unbash';
import type { Piece, Word } from '../analysis.ts';
import { pushLiteral, pushUnquoted, unescapeDoubleQuoted } from './quote_removal.ts';

/** Told of text that is read in two ways, here and by the parser or by two shells: it is then not understood. */
export type OnDoubt = (text: string) => void;

/** How a word stands: as the value of an assignment a `~` also counts after each `:`. */
type WordPlace = 'argument' | 'assigned';

/** A word in the shared form. Quotes are removed twice, by the parser and here from its parts, and compared. */
export function toWord(node: WordNode, onDoubt: OnDoubt, place: WordPlace = 'argument'): Word {
  const { text } = node;
  if (isPlain(text)) {
    return { text, value: text, pieces: [{ kind: 'literal', text, quoted: false }] };
  }
  const { parts } = node;
  const pieces: Piece[] = [];
  if (parts === undefined) {
    pushUnquoted(pieces, text);
  } else {
    for (const part of parts) pushPart(pieces, part, onDoubt);
  }
  if (pieces.some((piece) => piece.kind === 'literal' && !piece.quoted && SPECIAL.test(piece.text))) {
    onDoubt(text);
  }
  const marked = markBraces(markTildes(pieces, text, place), text);
  const value = literalValue(marked);
  if (value !== null && value !== node.value) onDoubt(text);
  return { text, value, pieces: marked };
}

const PLAIN = /^[\w./:=,@%+-]+$/;

/** Whether nothing in a word has a meaning to a shell, so that it stands for itself. Most are so, and have no parts. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text);
}

/** What never stands for itself outside of quotes. */
const SPECIAL = /\$[[({'"]|[`'"]/;

/** What pieces stand for when all of them are literal. */
export function literalValue(pieces: readonly Piece[]): string | null {
  let value = '';
  for (const piece of pieces) {
    if (piece.kind !== 'literal') return null;
    value += piece.text;
  }
  return value;
}

function pushPart(pieces: Piece[], part: WordPart, onDoubt: OnDoubt): void {
  if (part.type !== 'Literal' && !isClosed(part)) onDoubt(part.text);
  switch (part.type) {
    case 'Literal':
      pushUnquoted(pieces, part.text);
      return;
    case 'SingleQuoted':
      pushLiteral(pieces, part.text.slice(1, -1), true);
      return;
    case 'AnsiCQuoted':
      // Shells that do not know `$'…'` end it at the first quote, escaped or not.
      if (part.text.slice(2, -1).includes("'")) onDoubt(part.text);
      pushLiteral(pieces, part.value, true);
      return;
    case 'DoubleQuoted':
      // An empty pair of quotes is still a piece: without it `""` would be no word at all.
      if (part.parts.length === 0) pushLiteral(pieces, '', true);
      for (const child of part.parts) {
        if (child.type === 'Literal') {
          pushLiteral(pieces, unescapeDoubleQuoted(child.text), true);
        } else {
          pushExpansion(pieces, child, true);
        }
      }
      return;
    case 'Glob':
    case 'ExtendedGlob':
      pieces.push({ kind: 'glob', text: part.text });
      return;
    default:
      pushExpansion(pieces, part, false);
  }
}

/** How a quoted part or an expansion ends, by how it starts. */
const ENDS: readonly (readonly [start: string, end: string])[] = [
  ["$'", "'"],
  ['$"', '"'],
  ['$[', ']'],
  ['${', '}'],
  ['$(', ')'],
  ['<(', ')'],
  ['>(', ')'],
  ['`', '`'],
  ["'", "'"],
  ['"', '"'],
];

/** The parser takes some parts that the end of the text cuts off. */
function isClosed({ type, text }: WordPart): boolean {
  if (type === 'Glob' || type === 'ExtendedGlob') return true;
  const plain = text.includes('\\\n') ? text.replaceAll('\\\n', '') : text;
  const pair = ENDS.find(([start]) => plain.startsWith(start));
  return pair === undefined || (plain.length > pair[0].length && plain.endsWith(pair[1]));
}

/** An expansion: a variable where it is one, else what only running it could tell. */
function pushExpansion(pieces: Piece[], part: WordPart, quoted: boolean): void {
  if (part.type === 'SimpleExpansion') {
    const name = part.text.replaceAll('\\\n', '').slice(1);
    pieces.push({ kind: 'variable', name, plain: true, text: part.text, quoted });
  } else if (part.type === 'ParameterExpansion') {
    const plain = part.prefix === undefined && part.index === undefined && part.operation === undefined;
    pieces.push({ kind: 'variable', name: part.parameter, plain, text: part.text, quoted });
  } else {
    pieces.push({ kind: 'dynamic', text: part.text });
  }
}

const TILDE = /^~([A-Za-z0-9._+-]*)(?=\/|$)/;
/** What bash takes for an assignment wherever it stands among the arguments. */
const ASSIGNED_TILDE = /^([A-Za-z_]\w*\+?=)(?=~)/;

/** Tildes at the start of a word, after the `=` of what looks like an assignment, and there after each `:`. */
function markTildes(pieces: Piece[], text: string, place: WordPlace): Piece[] {
  if (!text.includes('~')) return pieces;
  const [first] = pieces;
  const prefix =
    first?.kind === 'literal' && !first.quoted ? (ASSIGNED_TILDE.exec(first.text)?.[1] ?? '') : '';
  return pieces.flatMap((piece, index) => {
    if (piece.kind !== 'literal' || piece.quoted) return [piece];
    const isLast = index === pieces.length - 1;
    if (place === 'assigned') return splitTildes(piece.text, index === 0, isLast);
    if (index > 0) return [piece];
    const rest = splitTildes(piece.text.slice(prefix.length), true, isLast, prefix === '');
    return prefix === '' ? rest : [{ kind: 'literal', text: prefix, quoted: false }, ...rest];
  });
}

/** A tilde prefix ends at a slash, a colon or the end of the word: never at a quote or an expansion. */
function splitTildes(text: string, isFirst: boolean, isLast: boolean, firstOnly = false): Piece[] {
  const fields = firstOnly ? [text] : text.split(':');
  const pieces: Piece[] = [];
  fields.forEach((field, index) => {
    if (index > 0) pushLiteral(pieces, ':', false);
    const match = index > 0 || isFirst ? TILDE.exec(field) : null;
    const endsHere = match !== null && match[0].length === field.length && index === fields.length - 1;
    if (match === null || (endsHere && !isLast)) {
      if (field !== '') pushLiteral(pieces, field, false);
      return;
    }
    pieces.push({ kind: 'tilde', user: match[1] ?? '' });
    if (field.length > match[0].length) pushLiteral(pieces, field.slice(match[0].length), false);
  });
  return pieces;
}

/** Whether unquoted braces could expand: an opening one, then `,` or `..`, then a closing one. */
function mayExpandBraces(pieces: readonly Piece[]): boolean {
  const unquoted = pieces
    .map((piece) => (piece.kind === 'literal' && !piece.quoted ? piece.text : ' '))
    .join('');
  const open = unquoted.indexOf('{');
  const close = unquoted.lastIndexOf('}');
  if (open === -1 || close < open) return false;
  const between = unquoted.slice(open + 1, close);
  return between.includes(',') || between.includes('..');
}

/** Makes unquoted text with braces that could expand dynamic where the parser took it for plain text. */
function markBraces(pieces: Piece[], text: string): Piece[] {
  if (!text.includes('{') || !mayExpandBraces(pieces)) return pieces;
  return pieces.map((piece) =>
    piece.kind === 'literal' && !piece.quoted && /[{}]/.test(piece.text)
      ? { kind: 'dynamic', text: piece.text }
      : piece,
  );
}
