import type { RE2JS } from 're2js';
import type { Finding, Miss } from './finding.ts';

export interface Match extends Finding {
  /** The match and its groups in their order; those that took no part are empty. */
  groups: Finding[];
}

/**
 * The match that begins at `from`, or with `isSearch` the first in the stretch from it. Looks at `reach` characters and,
 * where a match goes to their very end, at twice as many until it does not: its cost follows from what it finds.
 */
export function matchAt(
  regex: RE2JS,
  text: string,
  from: number,
  reach: number,
  isSearch: boolean,
): Match | undefined {
  for (let length = reach; ; length *= 2) {
    const stretch = text.slice(from, from + length);
    const matcher = regex.matcher(stretch);
    if (!(isSearch ? matcher.find() : matcher.lookingAt())) return undefined;
    if (matcher.end() === stretch.length && from + length < text.length) continue;
    const groups: Finding[] = [];
    for (let group = 0; group <= matcher.groupCount(); group += 1) {
      groups.push({ start: from + matcher.start(group), end: from + matcher.end(group) });
    }
    return { start: from + matcher.start(), end: from + matcher.end(), groups };
  }
}

/** The first group of a match that holds something, or the whole match. */
export function firstGroup({ start: begin, end: finish, groups }: Match): Finding {
  return groups.slice(1).find(({ start, end }) => end > start) ?? { start: begin, end: finish };
}

/**
 * The first group that took part in a match, or the whole match; undefined without one. For expressions that go one way
 * over a text and have little to come back to: matched by the runtime's own engine, in `reach` characters and, as by
 * `matchAt`, in more where a match goes to their end. `regex` is sticky where a match must begin at `from`.
 */
export function findNative(regex: RegExp, text: string, from: number, reach: number): Finding | undefined {
  for (let length = reach; ; length *= 2) {
    const stretch = text.slice(from, from + length);
    regex.lastIndex = 0;
    const match = regex.exec(stretch);
    if (match === null) return undefined;
    if (match.index + match[0].length === stretch.length && from + length < text.length) continue;
    const [start, end] = match.indices?.find((pair, index) => index > 0 && pair && pair[1] > pair[0]) ?? [
      match.index,
      match.index + match[0].length,
    ];
    return { start: from + start, end: from + end };
  }
}

/** Longer matches that are no secret are not looked into for another one: it would be as long. */
const REJECTED_CHARACTERS = 512;

/** What a match is that turned out to be no secret. */
export function reject({ start, end }: Finding): Miss | undefined {
  return end - start > REJECTED_CHARACTERS ? { missedUntil: end } : undefined;
}
