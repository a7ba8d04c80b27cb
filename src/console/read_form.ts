import type { IncomingMessage } from 'node:http';
import { Fault } from '../core/fault.ts';
import { BODY_LIMITS, readRawBody } from '../http/read_body.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * The fields of a form, of at most 256 KiB, each of which stands once.
 * @throws Fault `unsupported_media_type`, `body_too_large`, `bad_request`, `invalid_request`.
 */
export async function readForm(
  request: Request,
  incoming: IncomingMessage | undefined,
): Promise<Map<string, string>> {
  const { bytes } = await readRawBody(request, [FORM_TYPE], { ...BODY_LIMITS, incoming });
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString('utf8'))) {
    if (form.has(name)) {
      throw new Fault(
        'invalid_request',
        'a field of the form stands twice. Load the page again and send it anew',
      );
    }
    form.set(name, value);
  }
  return form;
}
