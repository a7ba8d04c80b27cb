/** Why something was not done. Stable: programs may branch on it. */
export type AegisErrorCode =
  | 'denied'
  | 'rejected'
  | 'expired'
  | 'voided'
  | 'cancelled'
  | 'already_consumed'
  | 'pending'
  | 'integrity'
  | 'throttled'
  | 'unavailable'
  | 'invalid_request'
  | 'unauthenticated'
  | 'forbidden';
