import * as z from 'zod';
import type { FaultCode } from '../../core/fault.ts';
import { idOf } from './common.ts';

const issue = z.strictObject({ pointer: z.string(), reason: z.string() });

/** Problem details (RFC 9457) with one of the given codes. */
export function problemOutput(codes: readonly FaultCode[]) {
  return z.looseObject({
    type: z.string().regex(/^urn:aegis:problem:[a-z-]+$/),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'says what to do next' }),
    code: z.enum(codes as [FaultCode, ...FaultCode[]]),
    request_id: idOf('request'),
    errors: z.array(issue).optional(),
  });
}
