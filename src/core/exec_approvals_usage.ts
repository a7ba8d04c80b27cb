/** Characters that are kept of the last command of an entry, and of its path. */
export const USAGE_TEXT_MAX = 4_096;

/** What is no plain text; tabs and line breaks are. */
const NOT_PLAIN = /[^\P{Cc}\t\n\r]|[\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** A text as it is kept with an entry: cut, and without characters that control, reorder or break what is shown. */
export function toUsageText(text: string): string {
  const plain = text.replace(NOT_PLAIN, '\ufffd');
  if (plain.length <= USAGE_TEXT_MAX) return plain;
  return `${plain.slice(0, USAGE_TEXT_MAX - 2).replace(/\p{Cs}$/u, '')}…`;
}
