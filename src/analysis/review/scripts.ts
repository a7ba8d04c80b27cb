/**
 * Scripts (UAX #24) that names and prose are written in. What is of none of them, nor common to several, counts as
 * one more.
 */
const SCRIPTS: readonly RegExp[] = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  // UTS #39 §5.2 lets these stand in one word with Latin and with each other, as Japanese, Chinese and Korean do.
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Devanagari}/u,
  /\p{Script=Thai}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Georgian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Bengali}/u,
  /\p{Script=Tamil}/u,
  /\p{Script=Telugu}/u,
  /\p{Script=Ethiopic}/u,
  /\p{Script=Lisu}/u,
  /\p{Script=Canadian_Aboriginal}/u,
];
const LATIN = 0;
export const EAST_ASIAN = 3;
const OTHER = SCRIPTS.length;

const OF_NO_SCRIPT = /[\p{Script=Common}\p{Script=Inherited}]/u;

/** The number of a character's script; undefined for what many scripts share, such as digits and accents. */
export function findScript(character: string): number | undefined {
  if (character < '\u0080') return /[a-z]/i.test(character) ? LATIN : undefined;
  if (OF_NO_SCRIPT.test(character)) return undefined;
  const found = SCRIPTS.findIndex((script) => script.test(character));
  return found === -1 ? OTHER : found;
}

/** Whether a word of these scripts is written by nobody who means well (UTS #39 §5.2, highly restrictive). */
export function isSuspectMix(scripts: ReadonlySet<number>): boolean {
  return scripts.size > 2 || (scripts.size === 2 && !(scripts.has(LATIN) && scripts.has(EAST_ASIAN)));
}

/**
 * What is written from right to left, by the ranges in which UAX #9 has every character, assigned or not, so by
 * default (DerivedBidiClass.txt). No property of ECMAScript's regular expressions tells it.
 */
export const RIGHT_TO_LEFT =
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
