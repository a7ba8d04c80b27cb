/** What stands between a name and its value in the rules about services' names: one of the separators, and quotes. */
const ASSIGNED = String.raw`(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`;
/** What ends a value in them. */
const ENDED = String.raw`(?:[\x60'"\s;]|\\[nr]|$)`;

/** Between a name and its separator, in a separator, and before a value: their most characters, or a few more. */
const GAP_CHARACTERS = 40;
const SEPARATOR_CHARACTERS = 4;
const OPENING_CHARACTERS = 6;
/** No value of any rule is shorter. */
const LENGTH_MIN = 5;
/** No value is longer whose length has a bound, and none of those without that is in use. */
const LENGTH_MAX = 220;
const LONG_LENGTH_MAX = 1024;
/** What the longest ending takes, and one more, so that no expression takes a cut for the end of the text. */
const AFTER = 3;

const GAP = 1;
const SEPARATOR = 2;
const OPENING = 4;
const VALUE = 8;
/** In the values of a few rules only. */
const RARE_VALUE = 16;
/** In no value that is longer than others. */
const ODD = 32;
const ENDING = 64;

const KINDS = new Uint8Array(128);
function mark(characters: string, kinds: number): void {
  for (const character of characters) {
    const code = character.charCodeAt(0);
    KINDS[code] = (KINDS[code] as number) | kinds;
  }
}
mark('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_', GAP | VALUE);
mark(' \t\r\n\f', GAP | OPENING | ENDING);
mark('.-', GAP | VALUE | ODD);
mark('\'"', GAP | OPENING | ENDING);
mark('`', OPENING | ENDING);
mark('=', SEPARATOR | OPENING | VALUE | ODD);
mark('>|?,', SEPARATOR);
mark(':', SEPARATOR | RARE_VALUE);
mark('%', RARE_VALUE);
mark('+/', VALUE);
mark('_', ODD);
mark(';\\', ENDING);

/** Beyond ASCII two letters can be in a value: those that RE2 takes for `s` and `k` whatever the case. */
function kindsAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (KINDS[code] as number) : code === 0x17f || code === 0x212a ? VALUE : 0;
}

function skip(text: string, from: number, kinds: number, most: number): number {
  const last = Math.min(text.length, from + most);
  let at = from;
  while (at < last && (kindsAt(text, at) & kinds) !== 0) at += 1;
  return at;
}

/** Where the expression of a rule need not look further for a value behind a name; undefined where none can be. */
export type AssignedReader = (text: string, end: number) => number | undefined;

/**
 * A look before a rule's expression. Undefined for expressions that are not a name, a separator and one value. Where it
 * says that there is no value, the expression has no match.
 */
export function createAssignedReader(regex: string): AssignedReader | undefined {
  const [, value, ...more] = regex.split(ASSIGNED);
  if (value === undefined || more.length > 0 || value.indexOf(ENDED) !== value.length - ENDED.length)
    return undefined;
  const pattern = value.slice(0, -ENDED.length);
  const skipRun = /[:%]/.test(pattern.replace(/\(\?(?:-?i)?:/g, '')) ? skipRareValue : skipValue;
  const { min, max, isOfTwoForms } = readLengths(pattern);
  return (text, end) => {
    const gap = skip(text, end, GAP, GAP_CHARACTERS);
    const separated = skip(text, gap, SEPARATOR, SEPARATOR_CHARACTERS);
    if (separated === gap) return undefined;
    const start = skip(text, separated, OPENING, OPENING_CHARACTERS);
    const run = skipRun(text, start);
    // What was taken for more of the separator may be the value's own.
    let first = start;
    while (first > gap + 1 && text[first - 1] === '=') first -= 1;
    if (run.end - first < min) return undefined;
    if (run.end < text.length && (kindsAt(text, run.end) & ENDING) === 0) return undefined;
    if (run.end - start > LENGTH_MAX && isOfTwoForms && run.lastOdd >= start) return undefined;
    if (run.end - start > max) return undefined;
    return run.end + AFTER;
  };
}

/** How long a value can be. */
interface Lengths {
  min: number;
  max: number;
  /** Whether those beyond `LENGTH_MAX` have no odd characters. */
  isOfTwoForms: boolean;
}

function readLengths(pattern: string): Lengths {
  const [, least, most = least] = /^\(\[[^\]]*\]\{(\d+)(?:,(\d+))?\}\)$/.exec(pattern) ?? [];
  if (least !== undefined) return { min: Number(least), max: Number(most), isOfTwoForms: false };
  // Of two forms, the shorter comes first and the other has more than ten characters of no bound.
  const [, either] = /^\(\[[^\]]*\]\{(\d+),\d+\}\|/.exec(pattern) ?? [];
  const isUnbounded = /[)\]][*+]|,\}/.test(pattern);
  return {
    min: Number(either ?? LENGTH_MIN),
    max: isUnbounded ? LONG_LENGTH_MAX : LENGTH_MAX,
    isOfTwoForms: either !== undefined,
  };
}

interface Run {
  end: number;
  /** The last place in it, but for the `=` at its end, of what is in no long value; or -1. */
  lastOdd: number;
}

/** Reads runs of some characters. Asked again about a place in the last run it has the answer: names stand in values. */
function createRunReader(kinds: number): (text: string, start: number) => Run {
  let known = { text: '', start: 0, end: 0, lastOdd: -1 };
  return (text, start) => {
    if (start >= known.start && start < known.end && text === known.text) return known;
    const end = skip(text, start, kinds, text.length);
    let last = end;
    while (last > start && end - last < 3 && text[last - 1] === '=') last -= 1;
    let odd = last - 1;
    while (odd >= start && (kindsAt(text, odd) & ODD) === 0) odd -= 1;
    known = { text, start, end, lastOdd: odd < start ? -1 : odd };
    return known;
  };
}

const skipValue = createRunReader(VALUE);
const skipRareValue = createRunReader(VALUE | RARE_VALUE);
