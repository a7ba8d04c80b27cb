/**
 * What takes two columns of a terminal: East Asian wide and full-width characters (UAX #11) by their blocks, and what
 * is drawn as an emoji. Rather too many than too few: then a line only ends early.
 */
const WIDE =
  /[\u1100-\u115f\u231a-\u232a\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff00-\uffef\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f000}-\u{1faff}\u{20000}-\u{3ffff}]|\p{Emoji_Presentation}/u;

/** What is not torn apart: an escape, or a character with its marks. */
const UNIT = /\\u\{[0-9a-f]{1,6}\}|.\p{M}*/gsu;

/** A line ends after its last space where no more columns than these would be left free. */
const SPACE_REACH = 16;

/** The columns that a text without control characters takes. */
export function countColumns(text: string): number {
  let columns = 0;
  for (const [unit] of text.matchAll(UNIT)) columns += columnsOf(unit);
  return columns;
}

function columnsOf(unit: string): number {
  if (/^[ -~]*$/.test(unit)) return unit.length;
  return WIDE.test(unit) ? 2 : 1;
}

/**
 * Lines of at most `columns` columns, each but the first after `mark`. Nothing is lost: the lines without their marks,
 * one after the other, are the text.
 */
export function wrapText(text: string, columns: number, mark: string): string[] {
  const lines: string[] = [];
  let units: string[] = [];
  let room = columns;
  for (const [unit] of text.matchAll(UNIT)) {
    const width = columnsOf(unit);
    if (width > room) {
      const rest = units.splice(findBreak(units));
      lines.push(units.join(''));
      units = rest;
      room = columns - countColumns(mark) - countColumns(rest.join(''));
    }
    units.push(unit);
    room -= width;
  }
  lines.push(units.join(''));
  return lines.map((line, index) => (index === 0 ? line : mark + line));
}

/** How many of a full line's units stay: up to the last space near its end, if there is one. */
function findBreak(units: readonly string[]): number {
  let columns = 0;
  for (let index = units.length - 1; index > 0 && columns <= SPACE_REACH; index -= 1) {
    const unit = units[index] ?? '';
    if (unit === ' ') return index + 1;
    columns += columnsOf(unit);
  }
  return units.length;
}
