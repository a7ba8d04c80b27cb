import type { AegisErrorCode } from './error_code.ts';
import { AegisError, IntegrityError } from './errors.ts';
import type { Approval, ApprovalStatus, AuthorizeAnswer } from './wire.ts';

/** The error for a decision that is not to run: a deny, or a word this library does not know (FAIL CLOSED). */
export function decisionError(decision: AuthorizeAnswer): AegisError {
  if (decision.decision !== 'deny') {
    return new IntegrityError(`authorize: unknown decision \`${decision.decision}\``, { decision });
  }
  const { denial, reason } = decision;
  return new AegisError('denied', `denied: ${reason}`, {
    reason,
    instruction: denial?.instruction,
    decision,
  });
}

const CODES: Readonly<Record<Exclude<ApprovalStatus, 'pending' | 'approved'>, AegisErrorCode>> = {
  rejected: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
  voided: 'voided',
  consumed: 'already_consumed',
};

/** The error for an approval that ended in anything but approved (FAIL CLOSED for a status not known here). */
export function approvalError(approval: Approval): AegisError {
  const { status } = approval;
  if (status === 'pending' || status === 'approved' || !Object.hasOwn(CODES, status)) {
    return new IntegrityError(`unknown approval status \`${status}\``, { approval });
  }
  const reason = status === 'voided' ? approval.void_reason : approval.decision_reason;
  const message = reason === null ? `the approval is ${status}` : `the approval is ${status}: ${reason}`;
  return new AegisError(CODES[status], message, { reason, approval });
}
