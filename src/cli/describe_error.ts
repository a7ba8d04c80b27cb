import { OperatorError } from '../core/operator_error.ts';
import { PolicySetError } from '../policy/policy_set_error.ts';
import { oneLine } from './config_values.ts';

/** Whether the file system refused: node's own message then names the file and the trouble. */
function isFileTrouble(error: Error): boolean {
  return 'syscall' in error && 'path' in error;
}

/**
 * What a command prints of an error: one line for what an operator can mend (of a policy set one for each problem),
 * the whole error for what only its author can.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof OperatorError || error instanceof PolicySetError) return error.message;
  return isFileTrouble(error)
    ? `${oneLine(error.message)}. Correct the path or its permissions`
    : (error.stack ?? error.message);
}
