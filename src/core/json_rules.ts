/** Rules on JSON that reading it, writing it and the SDK's conversion of values share. */

/** `__proto__` changes an object's prototype; the others mean something to Cedar's JSON form. */
export const RESERVED_MEMBERS: ReadonlySet<string> = new Set(['__proto__', '__entity', '__extn', '__expr']);

/** A surrogate that is not half of a pair: with the `u` flag a pair is one code point and does not match. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

/** The JSON Pointer (RFC 6901 §3) that these member names and indices make. */
export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
