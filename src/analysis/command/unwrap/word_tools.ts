import type { Word } from '../analysis.ts';

/** A word with a fixed value. */
export function literalWord(value: string): Word {
  return { text: value, value, pieces: [{ kind: 'literal', text: value, quoted: true }] };
}

/** A word that only running it could tell. */
export function dynamicWord(text: string): Word {
  return { text, value: null, pieces: [{ kind: 'dynamic', text }] };
}

/** Whether a word stays one word whatever its variables hold. */
export function isOneWord({ pieces }: Word): boolean {
  return pieces.every(
    (piece) =>
      piece.kind === 'literal' ||
      piece.kind === 'tilde' ||
      (piece.kind === 'variable' && piece.quoted && piece.plain && !/^[@*]$/.test(piece.name)),
  );
}

/** Whether a word names one known file, and not what is read from an input or a descriptor. */
export function isKnownFile(word: Word): boolean {
  const { value } = word;
  return (
    value !== null &&
    value !== '' &&
    value !== '-' &&
    isOneWord(word) &&
    !/(?:^|\/)(?:dev|proc)\//.test(value)
  );
}

/** Whether a word is known to be no option. */
export function isOperand({ value, pieces }: Word): boolean {
  if (value !== null) return value !== '' && !value.startsWith('-');
  const first = pieces.find((piece) => piece.kind !== 'literal' || piece.text !== '');
  return first?.kind === 'tilde' || (first?.kind === 'literal' && !first.text.startsWith('-'));
}

/** The text that a word starts with whatever the rest of it turns into, however it is quoted. */
export function fixedStart({ value, pieces }: Word): string {
  if (value !== null) return value;
  let start = '';
  for (const piece of pieces) {
    if (piece.kind !== 'literal') break;
    start += piece.text;
  }
  return start;
}

/** What a word most likely turns into: its expansions as they are written. */
export function likelyText({ value, pieces }: Word): string {
  return value ?? pieces.map((piece) => (piece.kind === 'tilde' ? `~${piece.user}` : piece.text)).join('');
}

/** The values of all words, or null when one of them is not known. */
export function valuesOf(words: readonly Word[]): string[] | null {
  const values: string[] = [];
  for (const { value } of words) {
    if (value === null) return null;
    values.push(value);
  }
  return values;
}

/** Words as they stand, for a person. */
export function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}
