import type { JsonValue } from '../../core/json.ts';
import { MASK } from '../../core/masker.ts';
import type { ReviewLine, ReviewLineKind, ReviewWarning, ReviewWarningCode } from '../../core/review.ts';
import { findLookAlike } from './confusables.ts';
import { foldInPlace, foldText } from './fold.ts';
import type { Hider } from './hider.ts';
import { type EscapeReason, type ShownText, showText } from './show_text.ts';

/** Above this a value is folded; a command, and what an edit changes, is what is decided on, and is folded later. */
const VALUE_LENGTH_MAX = 400;
const COMMAND_LENGTH_MAX = 4_096;
const TOKEN_LENGTH_MAX = 200;
const NAMED_MAX = 5;
/** Warnings of one code that are told one by one. */
const ALIKE_MAX = 50;
/** From so many hidden characters on it is said how many: anything may stand behind a mask that is not a password's. */
const HIDDEN_SAID_MIN = 200;

/** A text with what is secret in it hidden, not yet made fit to be shown. */
export interface Content {
  /** Before anything was hidden. */
  raw: string;
  text: string;
  isQuoted: boolean;
}

export interface Place {
  kind: ReviewLineKind;
  label: string;
  path: string | null;
  depth?: number;
}

/** The lines and warnings of a view as they are made. */
export interface Sheet {
  readonly lines: ReviewLine[];
  readonly hider: Hider;
  add(place: Place, content: Content): void;
  /** A line of words of this service, about no one value. */
  addPlain(place: Place, text: string): void;
  /** A text as one word of a label, a pointer or a warning. */
  showToken(text: string, path: string | null): string;
  /** A member's name as one step of a JSON Pointer (RFC 6901 §3). */
  showStep(name: string, parent: string): string;
  warn(code: ReviewWarningCode, path: string | null, text: string): void;
  listWarnings(): ReviewWarning[];
}

/** What weighs most comes first. */
const WEIGHT: readonly ReviewWarningCode[] = [
  'floor',
  'command_not_understood',
  'unknown_tool',
  'script_not_bound',
  'environment_changed',
  'path_outside_workspace',
  'bidi_characters',
  'control_characters',
  'invisible_characters',
  'mixed_scripts',
  'confusable_characters',
  'masked',
  'folded',
];

const ESCAPED_TEXTS: Record<EscapeReason, string> = {
  control_characters: 'holds control characters, shown as escapes',
  bidi_characters: 'holds characters that would change the order of the text, shown as escapes',
  invisible_characters: 'holds characters that are drawn as nothing or only with others, shown as escapes',
  confusable_characters: 'holds characters that can be taken for others, shown as escapes',
  mixed_scripts: 'has words that mix scripts; the foreign letters are shown as escapes',
};

/** Where right-to-left letters may stand as they are: in prose, never in what a machine takes apart. */
const PROSE: ReadonlySet<ReviewLineKind> = new Set(['parameter']);

const LONG_KINDS: ReadonlySet<ReviewLineKind> = new Set(['command', 'segment', 'edit']);

/** What repeats a value that has a line already: it is warned of only where that was not. */
const REPEATING: ReadonlySet<ReviewLineKind> = new Set(['segment', 'edit']);

export function createSheet(hider: Hider): Sheet {
  const lines: ReviewLine[] = [];
  const warnings = new Map<string, ReviewWarning>();
  const warned = new Set<string>();
  /** One name may stand in many pointers. */
  const steps = new Map<string, string>();

  const warn: Sheet['warn'] = (code, path, text) => {
    warnings.set(JSON.stringify([code, path, text]), { code, path, text });
    warned.add(JSON.stringify([code, path]));
  };
  const add: Sheet['add'] = ({ kind, label, path, depth = 0 }, { raw, text, isQuoted }) => {
    const isMasked = text !== raw;
    const shown = showText(text, { mayRunLeft: PROSE.has(kind), isToken: false });
    const max = LONG_KINDS.has(kind) ? COMMAND_LENGTH_MAX : VALUE_LENGTH_MAX;
    const whole = isQuoted ? shown.text : showEdges(shown.text);
    const { text: kept, folded } = foldText(whole, isMasked ? text : raw, max);
    // Members in the order of canonical JSON, which need not be sorted then.
    lines.push({ depth, folded, kind, label, path, text: isQuoted ? `"${kept}"` : kept });
    const hidden = isMasked ? countHidden(raw, text) : null;
    for (const [code, words] of findWarnings(shown, hidden, folded)) {
      if (REPEATING.has(kind) && warned.has(JSON.stringify([code, path]))) continue;
      warn(code, path, `the ${kind} ${words}`);
    }
  };
  const addPlain: Sheet['addPlain'] = ({ kind, label, path, depth = 0 }, text) => {
    lines.push({ depth, folded: null, kind, label, path, text });
  };
  const showAsToken = (text: string, path: string | null, write: (masked: string) => string): string => {
    const masked = hider.maskText(text);
    const shown = showText(write(masked), { mayRunLeft: false, isToken: true });
    const token = foldInPlace(shown.text, TOKEN_LENGTH_MAX);
    const folded = token === shown.text ? null : { length: Array.from(text).length };
    const hidden = masked === text ? null : countHidden(text, masked);
    for (const [code, words] of findWarnings(shown, hidden, folded)) warn(code, path, `a name ${words}`);
    return token;
  };
  const showToken: Sheet['showToken'] = (text, path) => showAsToken(text, path, (masked) => masked);
  const showStep: Sheet['showStep'] = (name, parent) => {
    const known = steps.get(name);
    if (known !== undefined) return known;
    const step = showAsToken(name, parent, escapeStep);
    steps.set(name, step);
    return step;
  };
  const listWarnings = () =>
    WEIGHT.flatMap((code) => firstOfMany([...warnings.values()].filter((warning) => warning.code === code)));
  return { lines, hider, warn, add, addPlain, showToken, showStep, listWarnings };
}

/** How many characters of a text have masks in their place; masks that it has of its own hide nothing. */
function countHidden(raw: string, text: string): number {
  return raw.replace(MASK, '').length - text.replace(MASK, '').length;
}

/** What is to be said of how a text is shown, in words that go on after its name; `hidden` is null without masks. */
function findWarnings(
  { escaped }: ShownText,
  hidden: number | null,
  folded: { length: number } | null,
): [ReviewWarningCode, string][] {
  const found: [ReviewWarningCode, string][] = [];
  for (const [reason, escapes] of escaped) {
    found.push([reason, `${ESCAPED_TEXTS[reason]}: ${nameEscapes(escapes)}`]);
  }
  if (hidden !== null) {
    const size = hidden < HIDDEN_SAID_MIN ? '' : `; ${hidden} characters cannot be read here`;
    found.push(['masked', `has a secret, which is hidden here and is part of what is approved${size}`]);
  }
  if (folded !== null)
    found.push(['folded', `has ${folded.length} characters, of which the middle is not shown`]);
  return found;
}

/** What a value that is no text is shown as; in quotes a text, so that `1` and `"1"` differ. */
export function contentOf(hider: Hider, name: string, value: JsonValue, isSecret: boolean): Content {
  if (isSecret) {
    // Whatever it is, it differs from what stands in its place.
    return { raw: '', text: hider.maskWhole(value), isQuoted: false };
  }
  if (typeof value === 'string') {
    return { raw: value, text: hider.maskMember(name, value), isQuoted: true };
  }
  const text = Array.isArray(value)
    ? '[]'
    : typeof value === 'object' && value !== null
      ? '{}'
      : String(value);
  return { raw: text, text, isQuoted: false };
}

function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Spaces at either end of a text that no quotes surround. */
function showEdges(text: string): string {
  if (!text.startsWith(' ') && !text.endsWith(' ')) return text;
  return text.replace(/^ | $/g, '\\u{20}');
}

function nameEscapes(escapes: ReadonlySet<string>): string {
  const named = [...escapes].slice(0, NAMED_MAX).map((shown) => {
    const alike = findLookAlike(String.fromCodePoint(Number.parseInt(shown.slice(3, -1), 16)));
    return alike === undefined || /^ *$/.test(alike) ? shown : `${shown} (like \`${alike}\`)`;
  });
  return named.join(', ') + (escapes.size > NAMED_MAX ? ' and others' : '');
}

/** Warnings of one code: so many that they would bury the others are counted from then on. */
function firstOfMany(warnings: readonly ReviewWarning[]): ReviewWarning[] {
  const [first] = warnings;
  if (first === undefined || warnings.length <= ALIKE_MAX) return [...warnings];
  const left = warnings.length - ALIKE_MAX;
  const counted = { code: first.code, path: null, text: `${left} more places have the same warning` };
  return [...warnings.slice(0, ALIKE_MAX), counted];
}
