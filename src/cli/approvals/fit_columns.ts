import { countColumns } from '../../analysis/review/columns.ts';

/** What is not torn apart: an escape, or a character with its marks. */
const UNIT = /\\u\{[0-9a-f]{1,6}\}|.\p{M}*/gsu;
const BETWEEN = 2;

/** A column of a table. */
export interface Column {
  title: string;
  /** Columns that it keeps when there is too little room; undefined: it is never cut. */
  least: number | undefined;
}

/**
 * Rows under their titles, in columns two spaces apart, of at most `width` columns in all: the widest of what may be
 * cut is cut, which `…` marks. What may not be cut can make the lines longer than that. Ends are trimmed.
 */
export function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const table = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, index) => Math.max(...table.map((row) => countColumns(row[index] ?? ''))));
  shrink(columns, widths, width - BETWEEN * (columns.length - 1));
  return table.map((row) =>
    widths
      .map((room, index) => pad(row[index] ?? '', room))
      .join(' '.repeat(BETWEEN))
      .trimEnd(),
  );
}

/** Takes from the widest, one by one, until it fits or all are at their least. */
function shrink(columns: readonly Column[], widths: number[], width: number): void {
  let over = widths.reduce((sum, one) => sum + one, 0) - width;
  while (over > 0) {
    const roomy = widths.flatMap((one, index) => {
      const least = columns[index]?.least;
      return least === undefined || one <= least ? [] : [{ index, one }];
    });
    const [widest] = roomy.sort((left, right) => right.one - left.one);
    if (widest === undefined) return;
    widths[widest.index] = widest.one - 1;
    over -= 1;
  }
}

/** A text as exactly so many columns. */
function pad(text: string, width: number): string {
  const cut = countColumns(text) <= width ? text : cutTo(text, width);
  return cut + ' '.repeat(width - countColumns(cut));
}

function cutTo(text: string, width: number): string {
  let kept = '';
  let room = width - 1;
  for (const [unit] of text.matchAll(UNIT)) {
    room -= countColumns(unit);
    if (room < 0) break;
    kept += unit;
  }
  return `${kept}…`;
}
