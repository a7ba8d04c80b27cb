import { RE2JS } from 're2js';
import { type Allowlist, createAllowance } from './allowance.ts';
import { backOverName, isWordAt, skipAny } from './characters.ts';
import { computeEntropy } from './entropy.ts';
import { firstGroup, matchAt } from './expressions.ts';
import type { Detector } from './finding.ts';
import catalogue from './gitleaks_rules.json' with { type: 'json' };
import { ANCHORS } from './rule_anchors.ts';

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

/** What stands between a name and its value in those rules: some of these, then one of the separators. */
const ASSIGNED = '(?:=|>|:{1,3}=|\\|\\||:|=>|\\?=|,)';

/** Most characters that a rule with no bound is first matched against; what matches to the end is matched further. */
const UNBOUNDED_CHARACTERS = 2048;

/** The rules of gitleaks as detectors. None is compiled before the first place that may match. */
export function createGitleaksDetectors(): Detector[] {
  return (catalogue.rules as Rule[]).map(createDetector);
}

function createDetector(rule: Rule): Detector {
  const anchor = ANCHORS[rule.id];
  const before = anchor?.before ?? 0;
  const isAssigned = before === 0 && rule.regex.includes(ASSIGNED) && !rule.regex.includes(`${ASSIGNED}|`);
  const hasLeadingName = LEADING_NAME.test(rule.regex);
  const isWordStart = /^(?:\(\?i\))?\(?\\b/.test(rule.regex);
  const reach = before + (anchor?.reach ?? reachOf(rule.regex));
  let compiled: { regex: RE2JS; isAllowed: (secret: string, match: string, line: () => string) => boolean };
  const compile = () => {
    compiled ??= {
      regex: RE2JS.compile(anchored(rule.regex)),
      isAllowed: createAllowance([catalogue.allowlist as Allowlist, ...rule.allowlists]),
    };
    return compiled;
  };
  return {
    keywords: anchor?.keywords ?? rule.keywords,
    ...(anchor?.stride !== undefined && { stride: anchor.stride }),
    find: (text, start, end) => {
      if (isAssigned && !mayAssign(text, end)) return undefined;
      if (isWordStart && before === 0 && isWordAt(text, start - 1)) return undefined;
      const { regex, isAllowed } = compile();
      const from = Math.max(0, start - before);
      const match = matchAt(regex, text, from, reach, before > 0);
      if (match === undefined) return undefined;
      const secret = (rule.group > 0 ? match.groups[rule.group] : undefined) ?? firstGroup(match);
      const value = text.slice(secret.start, secret.end);
      if (rule.entropy > 0 && computeEntropy(value) <= rule.entropy) return undefined;
      const whole = text.slice(hasLeadingName ? backOverName(text, match.start, 50) : match.start, match.end);
      return isAllowed(value, whole, () => lineAbout(text, match.start, match.end)) ? undefined : secret;
    },
  };
}

/** A rule's expression from its name on, so that it can be matched where the name stands. */
function anchored(regex: string): string {
  const isFolded = regex.startsWith('(?i)');
  const rest = regex.replace(LEADING_NAME, '').replace(/^\(\?i:\[\\w\.-\]\{0,50\}\?/, '(?i:');
  return isFolded && !rest.startsWith('(?i)') ? `(?i)${rest}` : rest;
}

/** How many characters a match can have at most, by the expression's counts; a guess where a count has no bound. */
function reachOf(regex: string): number {
  const isUnbounded = /\{\d+,\}|[)\]\w.][*+]/.test(regex);
  const counted = [...regex.matchAll(/\{(?:\d+,)?(\d+)\}/g)].reduce((sum, [, most]) => sum + Number(most), 0);
  return (isUnbounded ? UNBOUNDED_CHARACTERS : 128) + counted;
}

/** The shortest part of a value before a character that not every value may have. */
const VALUE_CHARACTERS_MIN = 5;

/**
 * Whether a separator follows as near as the rules about names want it, and then something like a value; a cheap look
 * before the expression.
 */
function mayAssign(text: string, end: number): boolean {
  const last = Math.min(text.length, end + 40);
  let at = end;
  while (at < last && (isWordAt(text, at) || ' \t\r\n\f.-\'"'.includes(text.charAt(at)))) at += 1;
  const separated = skipAny(text, at, '=>:|?,', 4);
  if (separated === at) return false;
  const value = skipAny(text, separated, '`\'"= \t\r\n\f\v', 6);
  let length = 0;
  while (length < VALUE_CHARACTERS_MIN && isValueAt(text, value + length)) length += 1;
  return length === VALUE_CHARACTERS_MIN;
}

function isValueAt(text: string, at: number): boolean {
  const character = text.charAt(at);
  return isWordAt(text, at) || (character !== '' && '.=+/-'.includes(character));
}

/** As much of a match's lines as stands within this many characters. */
const LINE_CHARACTERS = 512;

function lineAbout(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - LINE_CHARACTERS), start);
  const after = text.slice(end, end + LINE_CHARACTERS);
  const [rest = ''] = after.split('\n', 1);
  return before.slice(before.lastIndexOf('\n') + 1) + text.slice(start, end) + rest;
}
