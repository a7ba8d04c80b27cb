import { scrub } from '../../operations/scrub.ts';
import { defineRoute, type RawBody } from '../route.ts';

/** More than a command's output that a model could read. */
const BYTES_MAX = 1024 * 1024;

export const scrubRoute = defineRoute<RawBody, unknown>({
  operationId: 'scrubOutput',
  summary: 'Take secrets out of a command’s output',
  description:
    'Bytes in, bytes out, of the same media type. Secrets are replaced by `(secret …)` with a keyed fingerprint; UTF-8 loses control, zero-width and bidi characters, any other bytes stay as they are. Output with a private key in it is `blocked`, and nothing of it is answered. Up to 1 MiB.',
  method: 'post',
  path: '/v1/scrub',
  roles: ['agent'],
  rawBodyTypes: ['application/octet-stream', 'text/plain'],
  bodyBytesMax: BYTES_MAX,
  success: {
    status: 200,
    isRaw: true,
    description: 'what is left',
    headers: { 'Aegis-Scrub-Verdict': '`clean`, `redacted` or `blocked`' },
  },
  problems: [],
  handle: async ({ deps, caller, body }) => {
    const { verdict, bytes } = await scrub(deps, caller, body.bytes);
    return { raw: { bytes, mediaType: body.mediaType }, headers: { 'Aegis-Scrub-Verdict': verdict } };
  },
});
