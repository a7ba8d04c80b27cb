import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Where a command writes, so that a test can read it. */
export interface Terminal {
  /** Writes a text and a line break to standard output. */
  print(text: string): void;
  /** The same to standard error. */
  complain(text: string): void;
  /** The text in a style, where standard output shows styles: a terminal, and without NO_COLOR. */
  paint(style: Style, text: string): string;
}

/** The process's own. */
export const TERMINAL: Terminal = {
  print: (text) => void process.stdout.write(`${text}\n`),
  complain: (text) => void process.stderr.write(`${text}\n`),
  // node asks the stream and the environment itself.
  paint: (style, text) => styleText(style, text, { stream: process.stdout }),
};

/** Everything that a terminal would act on, hide or reorder, in place of which it shows `\u{…}`. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A text as it may be written to a terminal: controls, bidi and invisible characters as escapes; tabs are spaces. */
export function visible(text: string): string {
  return text.replaceAll('\t', ' ').replace(UNSAFE, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

/** The same for a text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** A value as JSON that is safe to show: such characters are escaped as JSON has it. Of one line with `indent` 0. */
export function toJsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent)
    .split('\n')
    .map((line) =>
      line.replace(UNSAFE, (one) =>
        one
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
      ),
    )
    .join('\n');
}

/** A number of things, in words: the plural is given where an `s` does not make it. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Rows as columns two spaces apart, ends trimmed. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (found, row) => row.map((cell, index) => Math.max(found[index] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
