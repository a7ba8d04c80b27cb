import { RE2JS } from 're2js';
import { type Allowlist, createAllowance } from './allowance.ts';
import { createAssignedReader } from './assigned_values.ts';
import { backOverName, isWordAt } from './characters.ts';
import { computeEntropy } from './entropy.ts';
import { firstGroup, matchAt, reject } from './expressions.ts';
import type { Detector } from './finding.ts';
import catalogue from './gitleaks_rules.json' with { type: 'json' };
import { ANCHORS } from './rule_anchors.ts';
import { createMeasure } from './sieve.ts';

interface Rule {
  id: string;
  keywords: string[];
  regex: string;
  /** The group that is secret; 0: the first that took part, or the whole match. */
  group: number;
  /** The secret must have more, in bits per character; 0 wants none. */
  entropy: number;
  allowlists: Allowlist[];
}

/** What a rule about a service's name begins with: any identifier that ends in the name. A match needs none of it. */
const LEADING_NAME = /^\[\\w\.-\]\{0,50\}\?|^\(\?i\)\[\\w\.-\]\{0,50\}\?/;

/** Most characters that a rule with no bound is first matched against; what matches to the end is matched further. */
const UNBOUNDED_CHARACTERS = 2048;

/** A match this long is taken as it was measured, and is judged by as much of it. */
const LONG_CHARACTERS = 1024;

/** The rules of gitleaks as detectors. None is compiled before the first place that may match. */
export function createGitleaksDetectors(): Detector[] {
  return (catalogue.rules as Rule[]).map(createDetector);
}

function createDetector(rule: Rule): Detector {
  const anchor = ANCHORS[rule.id];
  const before = anchor?.before ?? 0;
  const endOfAssigned = before === 0 ? createAssignedReader(rule.regex) : undefined;
  const hasLeadingName = LEADING_NAME.test(rule.regex);
  const isWordStart = /^(?:\(\?i\))?\(?\\b/.test(rule.regex);
  const reach = before + (anchor?.reach ?? reachOf(rule.regex));
  const compile = lazily(() => ({
    regex: RE2JS.compile(anchored(rule.regex)),
    isAllowed: createAllowance([catalogue.allowlist as Allowlist, ...rule.allowlists]),
    measure: endOfAssigned === undefined && before === 0 ? createMeasure(anchored(rule.regex)) : undefined,
  }));
  return {
    keywords: anchor?.keywords ?? rule.keywords,
    ...(anchor?.stride !== undefined && { stride: anchor.stride }),
    find: (text, start, end) => {
      const last = endOfAssigned?.(text, end);
      if (last === undefined && endOfAssigned !== undefined) return undefined;
      if (isWordStart && before === 0 && isWordAt(text, start - 1)) return undefined;
      if (anchor?.sieve?.(text, start) === false) return undefined;
      const { regex, isAllowed, measure } = compile();
      const from = Math.max(0, start - before);
      const measured = measure?.(text, from, reach);
      if (measure !== undefined && measured === undefined) return undefined;
      const isLong = measured !== undefined && measured.end - measured.start > LONG_CHARACTERS;
      const match = isLong
        ? { ...measured, groups: [] }
        : matchAt(regex, text, from, last === undefined ? reach : last - from, before > 0);
      if (match === undefined) return undefined;
      const secret = (rule.group > 0 ? match.groups[rule.group] : undefined) ?? firstGroup(match);
      const value = text.slice(secret.start, Math.min(secret.end, secret.start + LONG_CHARACTERS));
      if (rule.entropy > 0 && computeEntropy(value) <= rule.entropy) return reject(match);
      const first = hasLeadingName ? backOverName(text, match.start, 50) : match.start;
      const whole = text.slice(first, Math.min(match.end, match.start + LONG_CHARACTERS));
      return isAllowed(value, whole, () => lineAbout(text, match.start, match.end)) ? reject(match) : secret;
    },
  };
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * A rule's expression from its name on, so that it can be matched where the name stands. Names of groups say what a match
 * is, not what of it is secret; and no secret goes on in the next line, which in a command is another command.
 */
function anchored(regex: string): string {
  const isFolded = regex.startsWith('(?i)');
  const rest = regex
    .replace(/\(\?P<\w+>/g, '(?:')
    .replace('\\r\\n]', ']')
    .replace(LEADING_NAME, '')
    .replace(/^\(\?i:\[\\w\.-\]\{0,50\}\?/, '(?i:');
  return isFolded && !rest.startsWith('(?i)') ? `(?i)${rest}` : rest;
}

/** How many characters a match can have at most, by the expression's counts; a guess where a count has no bound. */
function reachOf(regex: string): number {
  const isUnbounded = /\{\d+,\}|[)\]\w.][*+]/.test(regex);
  const counted = [...regex.matchAll(/\{(?:\d+,)?(\d+)\}/g)].reduce((sum, [, most]) => sum + Number(most), 0);
  return (isUnbounded ? UNBOUNDED_CHARACTERS : 128) + counted;
}

/** As much of a match's lines as stands within this many characters. */
const LINE_CHARACTERS = 512;

function lineAbout(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - LINE_CHARACTERS), start);
  const after = text.slice(end, end + LINE_CHARACTERS);
  const [rest = ''] = after.split('\n', 1);
  return (
    before.slice(before.lastIndexOf('\n') + 1) +
    text.slice(start, Math.min(end, start + LONG_CHARACTERS)) +
    rest
  );
}
