import type { JsonValue } from './json.ts';
import { LONE_SURROGATE } from './json_rules.ts';

/** Objects and arrays that may stand inside each other; bounds the recursion and ends a cycle. */
export const CANONICAL_LEVELS_MAX = 1_000;

/** What keeps a string from being written as it is: a quote, a backslash, a control character, a surrogate. */
const NOT_PLAIN = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/**
 * The canonical text of a value (RFC 8785): no white space, members sorted by UTF-16 code units, numbers and
 * escapes as ECMAScript writes them, no Unicode normalisation. Equal values have equal texts. Its hash is that
 * of its UTF-8 bytes.
 *
 * Throws a `TypeError` on whatever is no JSON value: a number that is not finite, a lone surrogate in a string
 * or a name, `undefined` (a hole of an array included), `bigint`, symbols, functions, objects that are not
 * plain (`toJSON` is never called), and more than 1,000 levels, which a cycle has.
 */
export function canonicalize(value: JsonValue): string {
  return writeValue(value, 0);
}

function writeValue(value: JsonValue, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'number':
      return writeNumber(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeContainer(value, depth + 1);
    default:
      throw new TypeError(`a value of type \`${typeof value}\` is not json`);
  }
}

function writeContainer(value: JsonValue[] | { [member: string]: JsonValue }, depth: number): string {
  if (depth > CANONICAL_LEVELS_MAX) {
    throw new TypeError(`value has more than ${CANONICAL_LEVELS_MAX} levels or a cycle`);
  }
  return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
}

function writeArray(array: JsonValue[], depth: number): string {
  let text = '';
  // By index: `map` and `join` would skip holes.
  for (let index = 0; index < array.length; index += 1) {
    text += (index === 0 ? '' : ',') + writeValue(array[index] as JsonValue, depth);
  }
  return `[${text}]`;
}

function writeObject(object: { [member: string]: JsonValue }, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError('an object that is not plain is not json');
  }
  let text = '';
  for (const name of sortedNames(object)) {
    text += `${text === '' ? '' : ','}${writeString(name)}:${writeValue(object[name] as JsonValue, depth)}`;
  }
  return `{${text}}`;
}

/** RFC 8785 §3.2.3: the default order of `sort`, and of `<`, is that of UTF-16 code units. Most names have it already. */
function sortedNames(object: object): string[] {
  const names = Object.keys(object);
  for (let index = 1; index < names.length; index += 1) {
    if ((names[index - 1] as string) > (names[index] as string)) return names.sort();
  }
  return names;
}

/** RFC 8785 §3.2.2.2: for well-formed strings the escapes are those of `JSON.stringify`. */
function writeString(text: string): string {
  if (!NOT_PLAIN.test(text)) {
    return `"${text}"`;
  }
  if (LONE_SURROGATE.test(text)) {
    throw new TypeError('a string with a lone surrogate is not json');
  }
  return JSON.stringify(text);
}

/** RFC 8785 §3.2.2.3: ECMAScript's own number form, in which minus zero is `0`. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) {
    throw new TypeError(`the number \`${value}\` is not json`);
  }
  return String(value);
}
