import { sha256Hex } from '../../core/digest.ts';
import type { ReviewLine } from '../../core/review.ts';

/** How much of either end a folded text keeps, of the length from which it is folded. */
const HEAD_SHARE = 0.6;
const TAIL_SHARE = 0.3;

export interface FoldedText {
  text: string;
  folded: ReviewLine['folded'];
}

/**
 * Leaves the middle of a long text out, and says how much of it: `\u{1834 characters left out}`, which no text can
 * hold that `showText` made. `shown` is folded when it has more than `max` UTF-16 code units; length and digest are
 * those of `value`, the text before it was made fit to be shown.
 */
export function foldText(shown: string, value: string, max: number): FoldedText {
  if (shown.length <= max) return { text: shown, folded: null };
  const { head, tail, leftOut } = cut(shown, max);
  return {
    text: `${head}\\u{${leftOut} characters left out}${tail}`,
    folded: { length: countCharacters(value), sha256: sha256Hex(value) },
  };
}

/** As `foldText`, for what has no place for a digest beside it: that of `shown` stands in its midst. */
export function foldInPlace(shown: string, max: number): string {
  if (shown.length <= max) return shown;
  const { head, tail, leftOut } = cut(shown, max);
  return `${head}\\u{${leftOut} characters left out, sha-256 ${sha256Hex(shown)}}${tail}`;
}

function cut(shown: string, max: number): { head: string; tail: string; leftOut: number } {
  const head = shown.slice(0, findBoundary(shown, Math.floor(max * HEAD_SHARE), -1));
  const tail = shown.slice(findBoundary(shown, shown.length - Math.floor(max * TAIL_SHARE), 1));
  return { head, tail, leftOut: countCharacters(shown) - countCharacters(head) - countCharacters(tail) };
}

/**
 * The place nearest to `index`, before or after, where a text can be cut: not in an escape, in a pair, or between a
 * character and its marks.
 */
function findBoundary(shown: string, index: number, step: -1 | 1): number {
  const opened = shown.lastIndexOf('\\u{', index - 1);
  const closed = opened === -1 ? -1 : shown.indexOf('}', opened);
  let place = index;
  if (closed >= index) place = step === -1 ? opened : closed + 1;
  while (place > 0 && /^(?:\p{M}|[\udc00-\udfff])/u.test(shown.slice(place, place + 2))) place += step;
  return place;
}

function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
