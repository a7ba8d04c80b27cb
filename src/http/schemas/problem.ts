import * as z from 'zod';
import type { FaultCode } from '../../core/fault.ts';
import { idOf } from './common.ts';
import { policyProblemOutput } from './rules.ts';

const issue = z.strictObject({ pointer: z.string(), reason: z.string() });

/** What is wrong with a body, at its places; of policies, by their ids. */
function errorsOf(codes: readonly FaultCode[]) {
  return codes.includes('policy_invalid')
    ? z.union([z.array(issue), z.array(policyProblemOutput)])
    : z.array(issue);
}

/** Problem details (RFC 9457) with one of the given codes. */
export function problemOutput(codes: readonly FaultCode[]) {
  return z.looseObject({
    type: z.string().regex(/^urn:aegis:problem:[a-z-]+$/),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'says what to do next' }),
    code: z.enum(codes as [FaultCode, ...FaultCode[]]),
    request_id: idOf('request'),
    errors: errorsOf(codes).optional(),
  });
}
