import { backOverName, isLetterAt, markCharacters, skipAny, skipName } from './characters.ts';
import { computeEntropy } from './entropy.ts';
import type { Detector, Finding } from './finding.ts';
import { isPlaceholder, runsSomething } from './placeholders.ts';

/** Most characters of a name beside its keyword, of a value in quotes, and of what any value is judged by. */
const NAME_CHARACTERS = 64;
const VALUE_CHARACTERS = 512;

/** Names after which any value is a secret. */
const SECRET_NAMES = [
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'apikey',
  'api_key',
  'api-key',
  'private_key',
  'private-key',
  'privatekey',
  'access_key',
  'access-key',
  'accesskey',
  'accountkey',
  'auth_token',
  'authtoken',
  'access_token',
  'access-token',
  'refresh_token',
  'bearer_token',
];

/** Names after which a value is a secret when it looks made by chance. */
const WEAK_NAMES = ['key', 'token', 'credential', '_auth', '_pw', 'pass'];

/** What follows a keyword in names of things about a secret. */
const ABOUT =
  /^(?:s?[_.-]?(?:file|path|dir|ur[il]|endpoint|name|id|field|len|length|size|count|type|policy|hint|prompt|vault|ring|store|version|scope|manager|spec|ref|expir|ttl|hash|input|label)|less|izer|port)/i;

/** What precedes `key` in names of keys that are no secrets. */
const PUBLIC =
  /(?:public|pub|primary|foreign|sort|partition|bucket|schema|sequence|cache|hot|idx|natural|mon|tur|don|hoc|host|not_|non)[_.-]?$/i;

/** What precedes a word in names that say of themselves that they name no secret. */
const DENIED = /(?:^|[^A-Za-z])(?:not?|non)[_-](?:an?[_-])?$/i;

/**
 * Values given to names of secrets: in assignments and members of any common notation (`=` `:` `:=` `=>` `==`), in quotes
 * or bare, in options (`--password x`), in configuration lines (`password "x"`), and in comparisons from the right.
 */
export const ASSIGNMENT_DETECTORS: readonly Detector[] = [
  { keywords: SECRET_NAMES, find: (text, start, end) => findValue(text, start, end, isSecret) },
  { keywords: WEAK_NAMES, find: findAfterWeakName },
];

interface Value extends Finding {
  /** Empty for a bare value. */
  quote: string;
  separator: string;
}

function isSecret(value: string, { quote, separator }: Value): boolean {
  if (value.length < 3 || value.startsWith('(secret ') || isPlaceholder(value) || runsSomething(value))
    return false;
  // Backquotes hold a text in some languages and a command in a shell.
  if (quote !== '') return quote !== '`' || (value.length > 7 && !/\s/.test(value) && /[^a-z]/i.test(value));
  // Bare words after a colon or a blank are prose or types more often than not.
  const isPlain = /^[a-z]+$/i.test(value);
  if ((separator === ':' || separator === ' ') && isPlain) return false;
  if (/^[[{(]/.test(value)) return false;
  const isExpression = /[(){}[\]]/.test(value);
  return !(isExpression && (separator === '=>' || value.endsWith(';')));
}

function looksRandom(value: string): boolean {
  return (
    value.length >= 20 &&
    /^[\w+/=.~-]+$/.test(value) &&
    /[0-9]/.test(value) &&
    /[A-Za-z]/.test(value) &&
    computeEntropy(value) > 2.9
  );
}

function findAfterWeakName(text: string, start: number, end: number): Finding | undefined {
  const before = text.slice(Math.max(0, start - 16), start);
  if (PUBLIC.test(before)) return undefined;
  const keyword = text.slice(start, end).toLowerCase();
  const isPass = keyword === 'pass' || keyword === '_pw';
  if (isPass && (isLetterAt(text, end) || (keyword === 'pass' && isLetterAt(text, start - 1))))
    return undefined;
  return findValue(text, start, end, (value, about) =>
    isPass ? isSecret(value, about) : looksRandom(value) && isSecret(value, about),
  );
}

/** What runs in a shell, of what can stand in a value without quotes. */
const RUNNING = /[$<>]\(/;

type Judge = (value: string, about: Value) => boolean;

function findValue(text: string, start: number, end: number, judge: Judge): Finding | undefined {
  if (ABOUT.test(text.slice(end, end + 12))) return undefined;
  if (DENIED.test(text.slice(Math.max(0, start - 8), start))) return undefined;
  const name = skipName(text, end, NAME_CHARACTERS);
  const value = valueAfter(text, name, isOption(text, start)) ?? comparedBefore(text, start, name);
  if (value === undefined) return undefined;
  const raw = text.slice(value.start, value.end);
  if (!judge(raw.slice(0, VALUE_CHARACTERS), value)) return undefined;
  const running = raw.length > VALUE_CHARACTERS ? raw.search(RUNNING) : -1;
  if (running > 0) return { start: value.start, end: value.start + running };
  const isEnded = value.quote === '' && raw.endsWith(';');
  return { start: value.start, end: value.end - (isEnded ? 1 : 0) };
}

/** Whether the name that a keyword is in begins as an option of a command does. */
function isOption(text: string, start: number): boolean {
  const first = backOverName(text, start, NAME_CHARACTERS);
  return text.startsWith('--', first) && !/[\w]/.test(text.charAt(first - 1));
}

const SEPARATOR = /^(?:\[\d{0,6}\])?(?:\\*["'])?[ \t]{0,8}(:?=>|[:!=]?={1,3}|:=|:|\?=|\|\|=)?[ \t]{0,8}/;

function valueAfter(text: string, from: number, isOptionName: boolean): Value | undefined {
  const [skipped = '', separator = ' '] = SEPARATOR.exec(text.slice(from, from + 48)) ?? [];
  const at = skipped.endsWith(' ') || separator !== ' ' || skipped !== '' ? from + skipped.length : from;
  const opening = skipAny(text, at, '\\', 4);
  const quote = text.charAt(text[opening] === '@' ? opening + 1 : opening);
  // Verbatim texts are in double quotes; other quotes behind this sign are around a file's name (curl's `name=@file`).
  if (text[opening] === '@' && quote !== '"') return undefined;
  if (quote !== '' && '"\'`'.includes(quote)) {
    if (separator === ' ' && skipped.trim() !== '') return undefined;
    if (separator === ' ' && at === from) return undefined;
    return quoted(text, text[opening] === '@' ? opening + 2 : opening + 1, quote, separator);
  }
  if (separator === ' ' && !(isOptionName && at > from && text[at] !== '-')) return undefined;
  return bare(text, at, separator);
}

/** A quoted value, to its closing quote on the same line. */
function quoted(text: string, start: number, quote: string, separator: string): Value | undefined {
  const last = Math.min(text.length, start + VALUE_CHARACTERS);
  for (let at = start; at < last; at += 1) {
    const character = text.charAt(at);
    if (character === '\n') return undefined;
    if (character === quote) {
      const end = text[at - 1] === '\\' ? at - 1 : at;
      return { start, end, quote, separator };
    }
    if (character === '\\' && text[at + 1] !== quote) at += 1;
  }
  return undefined;
}

/** A value without quotes, as far as it can go in a shell's word and in common files alike. */
function bare(text: string, start: number, separator: string): Value | undefined {
  let at = skipBare(text, start);
  while (at > start && ',"\'`'.includes(text.charAt(at - 1))) at -= 1;
  if (text[at] === ';') at += 1;
  return at > start ? { start, end: at, quote: '', separator } : undefined;
}

/** The last stretch that was read. Names stand in values, of which each has the same end. */
let bareStretch = { text: '', start: 0, end: 0 };

function skipBare(text: string, start: number): number {
  const known = bareStretch;
  if (start >= known.start && start < known.end && text === known.text) return known.end;
  let end = start;
  while (end < text.length && !endsBare(text, end)) end += 1;
  bareStretch = { text, start, end };
  return end;
}

const MAY_END_BARE = markCharacters(' \t\r\n\f\v"\'`&|;<\\>,');

function endsBare(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 127 || MAY_END_BARE[code] === 0) return false;
  const character = text.charAt(at);
  if (character === '>') return /[\s/>&.]/.test(text.charAt(at + 1));
  return character !== ',' || /^,\s*[\w.-]{1,40}[=:]/.test(text.slice(at, at + 48));
}

/** The quoted text that a name is compared with when it stands first: `"x" == password`. */
function comparedBefore(text: string, start: number, end: number): Value | undefined {
  const name = backOverName(text, start, NAME_CHARACTERS);
  const before = text.slice(Math.max(0, name - 12), name);
  const operator = /(["'`])[ \t]{0,4}([!=]={1,2})[ \t]{0,4}$/.exec(before);
  if (operator === null || end < start) return undefined;
  const closing = name - before.length + operator.index;
  const first = Math.max(0, closing - VALUE_CHARACTERS);
  const opening = text.slice(first, closing).lastIndexOf(operator[1] as string);
  if (opening < 0) return undefined;
  return {
    start: first + opening + 1,
    end: closing,
    quote: operator[1] as string,
    separator: operator[2] as string,
  };
}
