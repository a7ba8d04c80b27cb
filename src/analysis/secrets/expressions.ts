import { RE2JS } from 're2js';
import type { Finding } from './finding.ts';

/** An expression that is compiled when it is first wanted. */
export type LazyPattern = () => RE2JS;

export function lazyPattern(expression: string): LazyPattern {
  let compiled: RE2JS | undefined;
  return () => {
    compiled ??= RE2JS.compile(expression);
    return compiled;
  };
}

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
