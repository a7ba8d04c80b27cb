/** Code points a tool's or an action's normal form may have. */
export const IDENTIFIER_CHARACTERS_MAX = 128;
/** UTF-16 code units of the text as sent: 128 four-byte characters, each byte escaped, and some space around. */
export const RAW_IDENTIFIER_MAX = 2_048;

/**
 * Characters an identifier may not have: control, format (bidi and zero-width ones), unassigned, surrogate and
 * private-use ones, line and paragraph separators, and the rest of what is drawn as nothing by default:
 * variation selectors, fillers, the braille blank, the object replacement character. None has a look of its
 * own, so two names with them could look alike.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufffc]/u;

export type UnsafeText = 'control' | 'bidi' | 'lone_surrogate';

export type NormalIdentifier = { kind: 'normal'; normal: string } | { kind: 'refused'; reason: string };

/**
 * The form of a tool's or an action's name under which registry and policy know it: percent-decoded once,
 * NFC, trimmed, lower-cased. It is never hashed, the name as sent is. Refused, before and after decoding: characters with no look of their own, malformed escapes, a `%` left after one decoding, a normal
 * form that is empty or longer than 128 code points. A normal form is its own normal form.
 */
export function normalizeIdentifier(raw: string): NormalIdentifier {
  if (raw.length > RAW_IDENTIFIER_MAX) {
    return refuse('is too long');
  }
  if (FORBIDDEN.test(raw)) {
    return refuse('has a control, bidi, invisible or unassigned character');
  }
  const decoded = percentDecode(raw);
  if (decoded === undefined) {
    return refuse('has a malformed percent escape');
  }
  if (decoded.includes('%')) {
    return refuse('has a percent sign left after decoding once');
  }
  if (FORBIDDEN.test(decoded)) {
    return refuse('has an escaped control, bidi, invisible or unassigned character');
  }
  // Once more NFC: lower case is not closed under it.
  const normal = decoded.normalize('NFC').trim().toLowerCase().normalize('NFC');
  if (normal === '') {
    return refuse('is empty');
  }
  if (countCodePoints(normal) > IDENTIFIER_CHARACTERS_MAX) {
    return refuse(`is longer than ${IDENTIFIER_CHARACTERS_MAX} characters`);
  }
  return { kind: 'normal', normal };
}

/**
 * Why a text of a call's context (workspace, session, justification and the like) may not be shown as it is:
 * it holds a control character (line breaks, tabs, U+2028 and U+2029 included), a bidi control, or a surrogate
 * that is not half of a pair. Undefined if it holds none. Length is the caller's to check.
 */
export function findUnsafeText(text: string): UnsafeText | undefined {
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) {
    return 'control';
  }
  if (/\p{Bidi_Control}/u.test(text)) {
    return 'bidi';
  }
  return /\p{Surrogate}/u.test(text) ? 'lone_surrogate' : undefined;
}

const LINE_BREAKS_AND_TABS = /[\t\n\r]/g;

/** The same of a person's words, in which line breaks and tabs are fine. */
export function findUnsafeProse(text: string): UnsafeText | undefined {
  return findUnsafeText(text.replace(LINE_BREAKS_AND_TABS, ''));
}

/**
 * Names that clients take for steps in a path, however they are escaped (RFC 3986 §5.2.4): a call for one would be a
 * call for something else.
 */
export function isDotSegment(name: string): boolean {
  return name === '.' || name === '..';
}

/** A principal as sent; no dot segment. Without lookahead, which JSON Schema's readers need not have (RFC 9485). */
export const PRINCIPAL_NAME =
  /^(?:[A-Za-z0-9._@:-]?[A-Za-z0-9_@:-]|[A-Za-z0-9_@:-]\.|[A-Za-z0-9._@:-]{3,128})$/;

/** What a principal must be, in the words of an issue. */
export const PRINCIPAL_RULE = 'must be 1 to 128 of `A-Z a-z 0-9 . _ @ : -`, and not `.` or `..`';

/** A principal in lower case, in which principals are compared; undefined for what is none. */
export function parsePrincipal(raw: string): string | undefined {
  return PRINCIPAL_NAME.test(raw) ? raw.toLowerCase() : undefined;
}

/** A group that a principal is in: 1 to 64 of a principal's characters. */
export const GROUP_NAME = /^[A-Za-z0-9._@:-]{1,64}$/;

/** What can name a tenant. */
export const TENANT_ID = /^[a-z0-9-]{1,63}$/;

function refuse(reason: string): NormalIdentifier {
  return { kind: 'refused', reason };
}

/** Percent-decoded once as UTF-8 (RFC 3986 §2.1); undefined if an escape is malformed or yields no UTF-8. */
function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function countCodePoints(text: string): number {
  return [...text].length;
}
