import type { JsonValue } from './json.ts';
import { StrictJsonError } from './strict_json_error.ts';
import { type JsonLimits, REQUEST_LIMITS, StrictJsonReader } from './strict_json_reader.ts';

export { StrictJsonError, type StrictJsonIssue, type StrictJsonReason } from './strict_json_error.ts';
export { JSON_LEVELS_MAX, JSON_MEMBERS_MAX, type JsonLimits } from './strict_json_reader.ts';

/**
 * Reads one JSON text (RFC 8259) as I-JSON (RFC 7493), stricter where a reader could silently change what was
 * written. Whatever it accepts, `JSON.parse` reads to the same value; whatever `JSON.parse` refuses, it refuses.
 *
 * Throws a `StrictJsonError` at the first fault:
 * - `invalid_utf8`: bytes that are not UTF-8 (overlong forms and encoded surrogates included);
 * - `syntax`: not JSON, a byte order mark included;
 * - `duplicate_member`: two members of one object with the same name after unescaping;
 * - `lone_surrogate`: in a name or a string, written plainly or as an escape; the pointer of a name at fault is
 *   its object's, since no pointer can hold it;
 * - `inexact_number`: the canonical form of the number read denotes another number than the one written;
 * - `too_deep`: more than 64 objects and arrays inside each other;
 * - `too_many_members`: more than 10,000 members of objects in the whole text (elements of arrays are no
 *   members and are bounded by the length of the text alone);
 * - `reserved_member`: a member named `__proto__`, `__entity`, `__extn` or `__expr`, however escaped.
 *
 * `limits` stands in for the 64 levels and 10,000 members; an answer holds several requests' worth.
 *
 * Time is linear in the length of the text and ends at the first fault; the stack holds at most `levelsMax` levels.
 */
export function parseStrictJson(
  input: Uint8Array | string,
  limits: Readonly<JsonLimits> = REQUEST_LIMITS,
): JsonValue {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  return new StrictJsonReader(text, limits).read();
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    // `ignoreBOM: true` keeps a byte order mark in the text, where it is a syntax fault (RFC 8259 §8.1).
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new StrictJsonError({ pointer: '', reason: 'invalid_utf8' }, { cause });
  }
}
