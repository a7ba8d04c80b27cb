/**
 * What a word may become once a shell has expanded it is written as text in which these private-use characters stand
 * for what is not fixed. One in the command itself only makes it look less fixed than it is, which refuses more.
 */

/** A value that is not known, and may be nothing at all: an unset variable, the output of a command. */
export const UNKNOWN = '\uE000';
/** A value that is not known, and is not empty. */
export const SOME = '\uE001';
/** `*`: any characters of a name. */
export const STAR = '\uE002';
/** `?` or a bracket expression: one character of a name. */
export const ONE = '\uE003';
/** Anything, with slashes: more than was looked into. */
export const WILD = '\uE004';
/** Where a shell splits an unquoted value into words. */
export const SPLIT = '\uE005';

const ANY_MARK = /[\uE000-\uE005]/;

export function hasMark(pattern: string): boolean {
  return ANY_MARK.test(pattern);
}

/** Whether a pattern is a glob or partly unknown, and so no name that is written out. */
export function isOpenName(pattern: string): boolean {
  return /[\uE000\uE002-\uE004]/.test(pattern);
}

/** Longest name that patterns are compared with; what fixes more characters than this equals none of them. */
const NAME_LENGTH_MAX = 24;

function simplify(pattern: string): string[] {
  const units: string[] = [];
  for (const unit of pattern) {
    if (unit === UNKNOWN || unit === SPLIT) continue;
    const isStar = unit === STAR || unit === WILD;
    if (!isStar) units.push(unit);
    else if (units.at(-1) !== STAR) units.push(STAR);
    if (units.length > 2 * NAME_LENGTH_MAX + 1) return [];
  }
  return units;
}

/**
 * Whether a part of a path, or a name, could be this name: a glob by what it matches, what is unknown by its being
 * empty. Its time does not grow with the square of the pattern, since names are short.
 */
export function couldBe(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  if (!hasMark(pattern)) return false;
  const units = simplify(pattern);
  if (units.length === 0) return false;
  let at = 0;
  let unit = 0;
  let starUnit = -1;
  let starAt = 0;
  while (at < name.length) {
    if (units[unit] === STAR) {
      starUnit = unit;
      starAt = at;
      unit += 1;
    } else if (units[unit] === ONE || units[unit] === name[at]) {
      unit += 1;
      at += 1;
    } else if (starUnit !== -1) {
      starAt += 1;
      at = starAt;
      unit = starUnit + 1;
    } else {
      return false;
    }
  }
  while (units[unit] === STAR) unit += 1;
  return unit === units.length;
}

/** Reads what is unknown as anything at all, where that is the likelier reading: the device of `/dev/$DISK`. */
export function assumeAnything(pattern: string): string {
  return pattern.replaceAll(/[\uE000\uE001]/g, STAR);
}

/** Whether a part of a path takes in whatever a folder holds: a glob that asks for no letter. */
export function takesEverything(part: string): boolean {
  if (!part.includes(STAR) && !part.includes(WILD)) return false;
  return !/[^.\uE000\uE002-\uE004]/.test(part);
}

/** A glob's text as marks. An extended glob takes anything: what it leaves out is not looked into. */
export function globToMarks(text: string): string {
  if (/^[?*+@!]\(/.test(text)) return STAR;
  const lastClose = text.lastIndexOf(']');
  let marks = '';
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charAt(at);
    if (letter === '[' && at < lastClose) {
      // The first `]` of a bracket expression, or the one after `!` or `^`, stands for itself (POSIX XBD 9.3.5).
      const first = /[!^]/.test(text.charAt(at + 1)) ? at + 3 : at + 2;
      const close = text.indexOf(']', first);
      at = close === -1 ? lastClose : close;
      marks += ONE;
    } else if (letter === '*') marks += STAR;
    else marks += letter === '?' ? ONE : letter;
  }
  return marks;
}
