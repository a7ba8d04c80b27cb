import { Fault, type FaultIssue } from '../../core/fault.ts';
import { OperatorError } from '../../core/operator_error.ts';
import { describeInput } from '../input_file.ts';
import { visible } from '../terminal.ts';

/** As many of the wrong places as a person reads on a terminal. */
const ISSUES_SHOWN = 5;

/** The places of a file that cannot be stored so. */
export function fileRefused(path: string, issues: readonly FaultIssue[]): OperatorError {
  const shown = issues.slice(0, ISSUES_SHOWN).map(({ pointer, reason }) => `\`${pointer}\` ${reason}`);
  const more = issues.length > ISSUES_SHOWN ? `; and ${issues.length - ISSUES_SHOWN} more` : '';
  return new OperatorError(visible(`${describeInput(path)} cannot be stored: ${shown.join('; ')}${more}`));
}

/** An operation's refusal as one for who runs the command; anything else as it is. */
export function toOperatorError(error: unknown, path: string): unknown {
  if (!(error instanceof Fault)) return error;
  if (error.code === 'base_hash_mismatch') {
    return new OperatorError(
      'exec approvals were changed while they were imported. Look at them, and import again',
    );
  }
  const ofFile = (error.issues ?? []).filter(({ pointer }) => pointer.startsWith('/document'));
  if (ofFile.length === 0) return new OperatorError(error.detail);
  return fileRefused(
    path,
    ofFile.map(({ pointer, reason }) => ({ pointer: pointer.slice('/document'.length), reason })),
  );
}
