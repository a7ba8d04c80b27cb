import * as z from 'zod';
import { Fault } from '../core/fault.ts';
import { StrictJsonError } from '../core/strict_json.ts';
import { issuesFromZod } from './zod_issues.ts';

/**
 * The fault that a thrown value stands for. A value that is no expected error becomes `internal_error` with the
 * value as its cause, for the log.
 */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) {
    return error;
  }
  if (error instanceof StrictJsonError) {
    return new Fault('invalid_json', 'the body is not strict json (RFC 7493). Mend the places in `errors`', {
      issues: error.issues,
      cause: error,
    });
  }
  if (error instanceof z.core.$ZodError) {
    return new Fault('invalid_request', 'the request has another shape. Mend the places in `errors`', {
      issues: issuesFromZod(error),
      cause: error,
    });
  }
  return new Fault('internal_error', 'unexpected error', { cause: error });
}
