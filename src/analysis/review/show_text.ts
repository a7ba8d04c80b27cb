import type { ReviewWarningCode } from '../../core/review.ts';
import { findLookAlike } from './confusables.ts';
import { EAST_ASIAN, findScript, isSuspectMix, RIGHT_TO_LEFT } from './scripts.ts';

/** Why characters of a text are shown as escapes. */
export type EscapeReason = Extract<
  ReviewWarningCode,
  | 'control_characters'
  | 'bidi_characters'
  | 'invisible_characters'
  | 'confusable_characters'
  | 'mixed_scripts'
>;

export interface ShownText {
  text: string;
  /** The escapes made, by why; of each reason the first few that differ. */
  escaped: ReadonlyMap<EscapeReason, ReadonlySet<string>>;
}

/** What a text's escapes depend on beside the text. */
export interface ShowOptions {
  /** Whether letters that run from right to left may stand as they are where nothing else has a direction. */
  mayRunLeft: boolean;
  /** Whether the text stands beside others in one line: then spaces, colons and quotes are escapes as well. */
  isToken: boolean;
}

/** One character of a text with what is known of it so far. */
interface Glyph {
  character: string;
  /** Why it is an escape; null when it is shown as it is. */
  reason: EscapeReason | 'syntax' | null;
}

const NAMED_MAX = 5;
const MARKS_MAX = 4;

/** What is shown as it is: no control character, and no backslash. In a token no syntax either. */
const PLAIN = /^[ -[\]-~]*$/;
const PLAIN_TOKEN = /^[!#-9;-[\]-~]*$/;
const NOTHING_ESCAPED: ShownText['escaped'] = new Map();
const ASCII = /^\p{ASCII}*$/u;
/** A backslash that would read as the start of an escape, and what else of ASCII becomes one. */
const ASCII_ESCAPED = /\p{Cc}|\\(?=u\{)/gu;
const ASCII_TOKEN_ESCAPED = /[\p{Cc} :"]|\\(?=u\{)/gu;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const BIDI = /\p{Bidi_Control}/u;
/**
 * Drawn as nothing, or by each font as it likes: format, unassigned, private use and surrogate code points, what is
 * ignorable by default (variation selectors, tags, fillers, joiners), spaces that are not the space, and the blanks
 * that Unicode calls symbols.
 */
const INVISIBLE =
  /[\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/u;
const MARK = /\p{M}/u;
/** Marks drawn around or through what stands before them. */
const OVERLAY =
  /\p{Me}|[\u{334}-\u{338}]|[\u{20d2}\u{20d3}]|[\u{20d8}-\u{20da}]|[\u{20e5}\u{20e6}\u{20ea}\u{20eb}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const IN_WORD = /[\p{L}\p{M}\p{N}_]/u;
/** Full-width punctuation, which Chinese and Japanese prose uses. */
const FULL_WIDTH_MARK = /(?![\p{L}\p{N}])[\uff01-\uff5e]/u;
const TOKEN_SYNTAX = /[ :"]/;

/**
 * A text as it may be shown to whoever decides on it: every character that is drawn as nothing, moves others about,
 * or can be taken for another is an escape `\u{hex}` of its code point. A backslash that the text itself has before
 * `u{` is shown as `\u{5c}`, so no text can hold what looks like an escape, and two texts are shown alike only if
 * they are equal. Linear in the text's length. Which characters are unassigned is the Unicode version of the runtime:
 * a view is made once and kept.
 */
export function showText(text: string, options: ShowOptions): ShownText {
  if ((options.isToken ? PLAIN_TOKEN : PLAIN).test(text)) return { text, escaped: NOTHING_ESCAPED };
  if (ASCII.test(text)) return showAscii(text, options);
  const glyphs = Array.from(text, (character): Glyph => ({ character, reason: null }));
  markSyntax(glyphs, options.isToken);
  markUnseen(glyphs);
  markWords(glyphs);
  markComposing(glyphs);
  markRunningLeft(glyphs, options.mayRunLeft);
  return write(glyphs);
}

/** Most texts are ASCII, of which only control characters and what is syntax here become escapes. */
function showAscii(text: string, { isToken }: ShowOptions): ShownText {
  const escapes = new Set<string>();
  const shown = text.replace(isToken ? ASCII_TOKEN_ESCAPED : ASCII_ESCAPED, (character) => {
    const written = escapeOf(character);
    if (CONTROL.test(character) && escapes.size <= NAMED_MAX) escapes.add(written);
    return written;
  });
  return {
    text: shown,
    escaped: escapes.size === 0 ? NOTHING_ESCAPED : new Map([['control_characters', escapes]]),
  };
}

/** The escape of a character. */
export function escapeOf(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

function markSyntax(glyphs: Glyph[], isToken: boolean): void {
  for (const [index, glyph] of glyphs.entries()) {
    const opens = glyph.character === '\\' && glyphs[index + 1]?.character === 'u';
    const isSyntax = opens && glyphs[index + 2]?.character === '{';
    if (isSyntax || (isToken && TOKEN_SYNTAX.test(glyph.character))) glyph.reason = 'syntax';
  }
}

function findUnseen(character: string): EscapeReason | null {
  if (CONTROL.test(character)) return 'control_characters';
  if (BIDI.test(character)) return 'bidi_characters';
  return INVISIBLE.test(character) || OVERLAY.test(character) ? 'invisible_characters' : null;
}

/** Marks what has no look of its own, and marks that stand on nothing or pile up. */
function markUnseen(glyphs: Glyph[]): void {
  let room = 0;
  for (const glyph of glyphs) {
    glyph.reason ??= findUnseen(glyph.character);
    if (MARK.test(glyph.character)) {
      if (room === 0) glyph.reason ??= 'invisible_characters';
      room = glyph.reason === null ? room - 1 : 0;
    } else {
      room = glyph.reason === null && LETTER_OR_DIGIT.test(glyph.character) ? MARKS_MAX : 0;
    }
  }
}

/** Marks what can be taken for ASCII, and what is foreign to the word it stands in. */
function markWords(glyphs: Glyph[]): void {
  for (let start = 0; start < glyphs.length; ) {
    let end = start + 1;
    if (isInWord(glyphs[start])) {
      while (isInWord(glyphs[end])) end += 1;
      markWord(glyphs, start, end);
    } else {
      markSign(glyphs, start);
    }
    start = end;
  }
}

function isInWord(glyph: Glyph | undefined): boolean {
  return glyph !== undefined && IN_WORD.test(glyph.character);
}

/** A word is looked at as a whole: letters of one script that nobody could read as ASCII keep those that could be. */
function markWord(glyphs: Glyph[], start: number, end: number): void {
  const word = glyphs.slice(start, end);
  if (word.every(({ character }) => character < '\u0080')) return;
  const scripts = word.map(({ character }) => findScript(character));
  const present = new Set(scripts.filter((script) => script !== undefined));
  const isMixed = isSuspectMix(present);
  const isAmbiguous = present.size > 1 || word.every(isForeignOnlyIfAlike);
  for (const [index, glyph] of word.entries()) {
    if (glyph.reason !== null || glyph.character < '\u0080') continue;
    const isOwn = scripts[index] !== undefined && scripts[index] !== 0;
    if (findLookAlike(glyph.character) !== undefined && (isAmbiguous || !isOwn)) {
      glyph.reason = 'confusable_characters';
    }
    if (isMixed) glyph.reason = 'mixed_scripts';
  }
}

/** Whether a character of a word says nothing against reading the whole word as ASCII. */
function isForeignOnlyIfAlike({ character }: Glyph): boolean {
  return character < '\u0080' || findLookAlike(character) !== undefined || MARK.test(character);
}

function markSign(glyphs: Glyph[], index: number): void {
  const glyph = glyphs[index] as Glyph;
  if (glyph.reason !== null || glyph.character < '\u0080') return;
  if (findLookAlike(glyph.character) === undefined) return;
  const beside = [glyphs[index - 1], glyphs[index + 1]];
  const isProse = beside.some((other) => other && findScript(other.character) === EAST_ASIAN);
  if (FULL_WIDTH_MARK.test(glyph.character) && isProse) return;
  glyph.reason = 'confusable_characters';
}

/** Marks what Unicode takes for the same as something else (UAX #15): what is shown is in normal form C. */
function markComposing(glyphs: Glyph[]): void {
  let cluster = '';
  for (const glyph of glyphs) {
    const { character } = glyph;
    const before = cluster;
    const joined = before + character;
    if (glyph.reason !== null || character < '\u0080') {
      cluster = glyph.reason === null ? character : '';
      continue;
    }
    const isOther = character.normalize('NFC') !== character || joined.normalize('NFC') !== joined;
    if (isOther) glyph.reason = 'confusable_characters';
    cluster = isOther ? '' : MARK.test(character) ? joined : character;
  }
}

/**
 * Marks letters that run from right to left wherever their order on a screen would not be that of the bytes in one
 * way only (UAX #9): beside digits, escapes, and letters that run the other way.
 */
function markRunningLeft(glyphs: Glyph[], mayRunLeft: boolean): void {
  const found = glyphs.filter(({ character, reason }) => reason === null && RIGHT_TO_LEFT.test(character));
  if (found.length === 0) return;
  const isAlone = glyphs.every(
    ({ character, reason }) =>
      reason === null &&
      !/\p{N}/u.test(character) &&
      (RIGHT_TO_LEFT.test(character) || !/\p{L}/u.test(character)),
  );
  if (mayRunLeft && isAlone) return;
  for (const glyph of found) glyph.reason = 'bidi_characters';
}

function write(glyphs: readonly Glyph[]): ShownText {
  const escaped = new Map<EscapeReason, Set<string>>();
  const parts: string[] = [];
  for (const { character, reason } of glyphs) {
    if (reason === null) {
      parts.push(character);
      continue;
    }
    const shown = escapeOf(character);
    parts.push(shown);
    if (reason === 'syntax') continue;
    const known = escaped.get(reason) ?? new Set<string>();
    if (known.size <= NAMED_MAX) known.add(shown);
    escaped.set(reason, known);
  }
  return { text: parts.join(''), escaped };
}
