import { Fault } from '../core/fault.ts';

/**
 * Headers of which a request has at most one: two are two meanings, and two readers may take different ones.
 * Headers whose value is a list may repeat (RFC 9110 §5.3).
 */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'date',
  'from',
  'host',
  'idempotency-key',
  'if-modified-since',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'max-forwards',
  'origin',
  'proxy-authorization',
  'range',
  'referer',
  'user-agent',
  'x-slack-request-timestamp',
  'x-slack-signature',
]);

const TOKEN_LENGTH_MAX = 512;
/** `Bearer` in any case, spaces, then a token68 (RFC 6750 §2.1, RFC 9110 §11.2). */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

export type BearerCredential = { kind: 'token'; token: string } | { kind: 'absent' } | { kind: 'malformed' };

/**
 * The first single-valued header that stands twice among node's `rawHeaders` (name, value, name, value, …), in
 * lower case; undefined when none does. The joined headers cannot tell: node keeps the first of most.
 */
export function findRepeatedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (!SINGLE_HEADERS.has(name)) {
      continue;
    }
    if (seen.has(name)) {
      return name;
    }
    seen.add(name);
  }
  return undefined;
}

/** The bearer token of an `Authorization` header, by grammar; of at most 512 characters. Never throws. */
export function parseBearer(header: string | undefined): BearerCredential {
  if (header === undefined) {
    return { kind: 'absent' };
  }
  const token = BEARER.exec(header)?.[1];
  return token === undefined || token.length > TOKEN_LENGTH_MAX
    ? { kind: 'malformed' }
    : { kind: 'token', token };
}

const QUOTED_KEY = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
const BARE_KEY = /^[!#-+\--~]+$/;
const KEY_LENGTH_MAX = 256;

/**
 * The key of an `Idempotency-Key` header: 1 to 256 printable ASCII characters, as a quoted string (RFC 8941
 * §3.3.3) or bare, then without space, quote or comma. Both forms of the same characters are the same key.
 * Undefined when the header is absent; `invalid_request` for anything else.
 */
export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) {
    return undefined;
  }
  const quoted = QUOTED_KEY.exec(header)?.[1];
  const key = quoted?.replace(/\\(["\\])/g, '$1') ?? (BARE_KEY.test(header) ? header : '');
  if (key.length === 0 || key.length > KEY_LENGTH_MAX) {
    throw new Fault(
      'invalid_request',
      'the `idempotency-key` header is no key. Send 1 to 256 printable ascii characters, in quotes or bare',
    );
  }
  return key;
}

const VERSION_TAG = /^"(0|[1-9][0-9]{0,9})"$/;
const VERSION_MAX = 2 ** 31 - 1;

/**
 * The version an `If-Match` header asks for: one strong tag (RFC 9110 §8.8.3) that holds it in decimal. Undefined
 * when the header is absent; `invalid_request` for `*`, a weak tag, a list and anything else, since each of them
 * would approve what was not read.
 */
export function parseIfMatch(header: string | undefined): number | undefined {
  if (header === undefined) {
    return undefined;
  }
  const version = Number(VERSION_TAG.exec(header)?.[1] ?? Number.NaN);
  if (!(version <= VERSION_MAX)) {
    throw new Fault(
      'invalid_request',
      'the `if-match` header is not one strong tag. Send the approval\'s `etag`, for instance `if-match: "1"`',
    );
  }
  return version;
}

const WAIT = /^wait *= *(.*)$/i;

/**
 * The seconds of `wait=N` in a `Prefer` header (RFC 7240 §4.3), the first if there are several; its range is the
 * caller's to judge. Undefined when there is none, other preferences are ignored; `invalid_request` when N is no
 * whole number.
 */
export function parsePrefer(header: string | undefined): number | undefined {
  const wait = header
    ?.split(',')
    .map((preference) => WAIT.exec(preference.split(';', 1).join('').trim())?.[1])
    .find((value) => value !== undefined);
  if (wait === undefined) {
    return undefined;
  }
  if (!/^(\d{1,6}|"\d{1,6}")$/.test(wait)) {
    throw new Fault(
      'invalid_request',
      'the `prefer` header has a `wait` that is no number. Send whole seconds, for instance `prefer: wait=25`',
    );
  }
  return Number(wait.replaceAll('"', ''));
}
