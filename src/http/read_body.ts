import type { IncomingMessage } from 'node:http';
import { Fault } from '../core/fault.ts';
import type { JsonValue } from '../core/json.ts';
import { parseStrictJson } from '../core/strict_json.ts';
import { type BodyLimits, bodyTooLarge, readIncomingBytes, readStreamBytes } from './body_bytes.ts';

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
  const { headers } = request;
  const { incoming } = options;
  if (!(incoming === undefined ? hasStream(request) : announcesBody(headers))) {
    return absentBody(options.required);
  }
  assertMediaType(headers);
  if (Number(headers.get('content-length')) > options.bytesMax) {
    throw bodyTooLarge(options.bytesMax);
  }
  const bytes =
    incoming === undefined
      ? await readStreamBytes(request.body as ReadableStream<Uint8Array>, options)
      : await readIncomingBytes(incoming, options);
  return bytes.length === 0 ? absentBody(options.required) : parseStrictJson(bytes);
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

function assertMediaType(headers: Headers): void {
  const coding = headers.get('content-encoding');
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    throw unsupported('the body has a content coding');
  }
  if (!isJsonMediaType(headers.get('content-type') ?? '')) {
    throw unsupported('the body is not declared as json');
  }
}

function unsupported(what: string): Fault {
  return new Fault(
    'unsupported_media_type',
    `${what}. Send plain json with \`content-type: application/json\`, for instance by \`curl --json\``,
  );
}

/** `application/json`, alone or with `charset=utf-8`; no other charset is JSON (RFC 8259 §8.1). */
function isJsonMediaType(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  return (
    type === 'application/json' &&
    parameters.every((parameter) => ['', 'charset=utf-8', 'charset="utf-8"'].includes(parameter))
  );
}
