import * as z from 'zod';
import { SOURCE_TRUSTS } from '../../core/action.ts';
import {
  findUnsafeProse,
  findUnsafeText,
  isDotSegment,
  PRINCIPAL_NAME,
  PRINCIPAL_RULE,
} from '../../core/identifiers.ts';
import { ID_PREFIXES, type IdKind, UUID_V7_PATTERN } from '../../core/ids.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';

const ISO_MILLISECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** RFC 3339 in UTC with milliseconds, as every time is answered. */
export const instant = z.string().regex(ISO_MILLISECONDS).meta({ format: 'date-time' });

const LATEST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** A time that a caller sends: RFC 3339 with any offset, in UTC still one of four-digit years. */
export const sentInstant = z.iso
  .datetime({ offset: true, error: 'must be a time as in RFC 3339' })
  .refine((text) => !(Date.parse(text) > LATEST_INSTANT), 'must lie before the year 10000');

/** SHA-256 in 64 lower-case hex characters. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex characters');

/** An id of one kind, as answered. */
export function idOf(kind: IdKind) {
  return z.string().regex(new RegExp(`^${ID_PREFIXES[kind]}${UUID_V7_PATTERN}$`));
}

/**
 * An object that the strict reader has read already: the schema says only that it is one. A schema that walked it
 * would copy what is hashed, and could be made to overflow.
 */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, 'must be an object')
  .meta({ override: { type: 'object', additionalProperties: true } });

/** A short text without control or bidi characters, which could hide or reorder what is shown. */
export function plainText(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((text) => findUnsafeText(text) === undefined, 'must not have control or bidi characters');
}

/** A session's id, which stands in paths. */
export function sessionName(max: number) {
  return plainText(max).refine(
    (name) => !isDotSegment(name),
    'must not be `.` or `..`, which paths cannot name',
  );
}

/** A person's words: line breaks and tabs are fine, other control and bidi characters are not. */
export function prose(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine(
      (text) => findUnsafeProse(text) === undefined,
      'must not have control characters but line breaks and tabs, nor bidi characters',
    );
}

export const sourceTrust = z.enum(SOURCE_TRUSTS);

export const principalName = z
  .string()
  .regex(PRINCIPAL_NAME, PRINCIPAL_RULE)
  .transform((name) => name.toLowerCase());
