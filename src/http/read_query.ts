import * as z from 'zod';
import { Fault } from '../core/fault.ts';

const NO_PARAMETERS = z.strictObject({});

/**
 * The query of a request's URL as its schema makes it. A parameter that stands twice, is not known or has another
 * form is refused: a misspelt filter must not silently filter nothing.
 * @throws Fault `invalid_request`, ZodError.
 */
export function readQuery(url: string, schema: z.ZodType | undefined): unknown {
  const start = url.indexOf('?');
  if (start === -1 && schema === undefined) return undefined;
  const parameters = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  const query: Record<string, string> = {};
  for (const [name, value] of parameters) {
    if (Object.hasOwn(query, name)) {
      throw new Fault('invalid_request', 'a query parameter stands twice. Send it once', {
        issues: [{ pointer: '', reason: 'a query parameter stands twice' }],
      });
    }
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return (schema ?? NO_PARAMETERS).parse(query);
}
