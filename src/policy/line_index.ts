import { countUpTo } from './ascending.ts';

/** A place in a text, both counted from 1; columns in UTF-16 code units. */
export interface Place {
  line: number;
  column: number;
}

/** Finds lines and columns in one text, without reading it again for each. */
export interface LineIndex {
  /** The place of an offset in UTF-16 code units. */
  placeAt(offset: number): Place;
  /** Offsets of the lines that begin with a text's first line, in order. */
  linesLike(part: string): readonly number[];
}

/** Reads a text's lines once. */
export function indexLines(text: string): LineIndex {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  let byLine: Map<string, number[]> | undefined;
  return {
    placeAt: (offset) => {
      const line = countUpTo(starts, offset);
      return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
    },
    linesLike: (part) => {
      byLine ??= groupByLine(text, starts);
      return byLine.get(lineAt(part, 0)) ?? [];
    },
  };
}

/** The place of a byte of a text, as Cedar counts: in UTF-8 from its beginning. */
export function placeOfByte(text: string, byte: number): Place {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, byte));
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

/** A place in a part of a text as a place in the whole, given where the part begins. */
export function shiftPlace({ line, column }: Place, start: Place): Place {
  return { line: start.line + line - 1, column: line === 1 ? start.column + column - 1 : column };
}

function groupByLine(text: string, starts: readonly number[]): Map<string, number[]> {
  const byLine = new Map<string, number[]>();
  for (const start of starts) {
    const line = lineAt(text, start);
    const known = byLine.get(line);
    if (known === undefined) byLine.set(line, [start]);
    else known.push(start);
  }
  return byLine;
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.slice(start) : text.slice(start, end);
}
