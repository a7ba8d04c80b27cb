import type { Piece } from '../analysis.ts';

/** Adds a literal, joined to the one before it when that is quoted alike. */
export function pushLiteral(pieces: Piece[], text: string, quoted: boolean): void {
  const last = pieces.at(-1);
  if (last?.kind === 'literal' && last.quoted === quoted) {
    pieces[pieces.length - 1] = { kind: 'literal', text: last.text + text, quoted };
    return;
  }
  pieces.push({ kind: 'literal', text, quoted });
}

/**
 * Text outside of quotes, where a backslash quotes the character after it and a backslash before a newline is no
 * character at all (POSIX XCU 2.2.1). A backslash at the very end stands for itself.
 */
export function pushUnquoted(pieces: Piece[], raw: string): void {
  let from = 0;
  for (let at = raw.indexOf('\\'); at !== -1; at = raw.indexOf('\\', from)) {
    if (at > from) pushLiteral(pieces, raw.slice(from, at), false);
    const escaped = escapedCharacter(raw, at);
    if (escaped !== '\n') pushLiteral(pieces, escaped === '' ? '\\' : escaped, true);
    from = at + 1 + escaped.length;
  }
  if (from < raw.length) pushLiteral(pieces, raw.slice(from), false);
}

/** The whole character after a backslash, so that no surrogate pair is cut. */
function escapedCharacter(raw: string, at: number): string {
  const point = raw.codePointAt(at + 1);
  return point === undefined ? '' : String.fromCodePoint(point);
}

/** Text inside double quotes: a backslash quotes only `$`, `` ` ``, `"`, itself and a newline (POSIX XCU 2.2.3). */
export function unescapeDoubleQuoted(raw: string): string {
  if (!raw.includes('\\')) return raw;
  return raw.replace(/\\([$`"\\\n])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped));
}

/** The lines of a here-document whose delimiter is not quoted: as in double quotes, where `"` is nothing special. */
export function unescapeHereDocument(raw: string): string {
  return raw.replace(/\\([$`\\\n])/g, (_, escaped: string) => (escaped === '\n' ? '' : escaped));
}
