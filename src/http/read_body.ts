import type { IncomingMessage } from 'node:http';
import { Fault } from '../core/fault.ts';
import type { JsonValue } from '../core/json.ts';
import { parseStrictJson } from '../core/strict_json.ts';
import { type BodyLimits, bodyTooLarge, readIncomingBytes, readStreamBytes } from './body_bytes.ts';
import type { RawBody } from './route.ts';

/** Limits of a JSON body (wire contract, "Errors"): 256 KiB within ten seconds. */
export const BODY_LIMITS: BodyLimits = { bytesMax: 256 * 1024, timeoutMs: 10_000 };

export interface ReadBodyOptions extends BodyLimits {
  /** Whether an absent body is refused (`invalid_request`) or read as undefined. */
  required: boolean;
  /** The request as node:http has it; the way to read it fast and to answer before it ends. */
  incoming?: IncomingMessage | undefined;
}

/**
 * The body of a request as strict JSON (`parseStrictJson`), read once from its raw bytes. Undefined when there is
 * none: no body at all, `Content-Length: 0` under any content type, or an empty chunked one.
 *
 * Throws `unsupported_media_type` (another content type or a content coding), `body_too_large`, `bad_request` (cut
 * short or too slow), `invalid_json`, or `invalid_request` when it is required and absent.
 */
export async function readJsonBody(
  request: Request,
  options: ReadBodyOptions,
): Promise<JsonValue | undefined> {
  if (!isSent(request, options)) return absentBody(options.required);
  assertPlain(request.headers, JSON_REMEDY);
  if (!isJsonMediaType(request.headers.get('content-type') ?? '')) {
    throw unsupported('the body is not declared as json', JSON_REMEDY);
  }
  const bytes = await readBytes(request, options);
  return bytes.length === 0 ? absentBody(options.required) : parseStrictJson(bytes);
}

/**
 * The body of a request as it was sent, with the media type it is declared as, without parameters: one of `mediaTypes`.
 * A request without a body has no bytes, of the type declared or else the first.
 *
 * Throws `unsupported_media_type`, `body_too_large` or `bad_request`, as `readJsonBody` does.
 */
export async function readRawBody(
  request: Request,
  mediaTypes: readonly [string, ...string[]],
  options: Omit<ReadBodyOptions, 'required'>,
): Promise<RawBody> {
  const { headers } = request;
  const sent = isSent(request, options);
  const declared = headers.get('content-type') ?? (sent ? '' : mediaTypes[0]);
  const remedy = `Send it with \`content-type: ${mediaTypes.join('` or `')}\``;
  const mediaType = mediaTypes.find((type) => isOfType(declared, type));
  assertPlain(headers, remedy);
  if (mediaType === undefined) throw unsupported('the body is of another media type', remedy);
  return { bytes: sent ? await readBytes(request, options) : new Uint8Array(), mediaType };
}

function isSent(request: Request, { incoming }: Pick<ReadBodyOptions, 'incoming'>): boolean {
  return incoming === undefined ? hasStream(request) : announcesBody(request.headers);
}

async function readBytes(request: Request, options: Omit<ReadBodyOptions, 'required'>): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > options.bytesMax) throw bodyTooLarge(options.bytesMax);
  return options.incoming === undefined
    ? readStreamBytes(request.body as ReadableStream<Uint8Array>, options)
    : readIncomingBytes(options.incoming, options);
}

function hasStream(request: Request): boolean {
  return request.body !== null && request.headers.get('content-length') !== '0';
}

/** Whether a message has content, by its framing alone (RFC 9112 §6). */
function announcesBody(headers: Headers): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length')) > 0;
}

function absentBody(required: boolean): undefined {
  if (required) {
    throw new Fault(
      'invalid_request',
      'the request needs a json body. Send one, for instance by `curl --json`',
      {
        issues: [{ pointer: '', reason: 'is required' }],
      },
    );
  }
  return undefined;
}

const JSON_REMEDY = 'Send plain json with `content-type: application/json`, for instance by `curl --json`';

/** @throws Fault `unsupported_media_type` for a content coding. */
function assertPlain(headers: Headers, remedy: string): void {
  const coding = headers.get('content-encoding');
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    throw unsupported('the body has a content coding', remedy);
  }
}

function unsupported(what: string, remedy: string): Fault {
  return new Fault('unsupported_media_type', `${what}. ${remedy}`);
}

/** Whether a content type is a type, in a charset whose ASCII is ASCII. */
function isOfType(contentType: string, wanted: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = /^charset="?(?:utf-8|us-ascii|iso-8859-1)"?$/;
  return type === wanted && parameters.every((parameter) => parameter === '' || charset.test(parameter));
}

/** `application/json`, alone or with `charset=utf-8`; no other charset is JSON (RFC 8259 §8.1). */
function isJsonMediaType(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  return (
    type === 'application/json' &&
    parameters.every((parameter) => ['', 'charset=utf-8', 'charset="utf-8"'].includes(parameter))
  );
}
