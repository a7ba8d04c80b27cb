export type { ActionSpec } from './action_spec.ts';
export type { GetApprovalOptions, RequestOptions } from './calls.ts';
export { Aegis, type AegisOptions, type ChangeOptions, type RetryOptions } from './client.ts';
export type { Fetch } from './connection.ts';
export type { AegisErrorCode } from './error_code.ts';
export {
  AegisError,
  IntegrityError,
  type PendingApproval,
  PendingError,
} from './errors.ts';
export type { ReportFailed } from './outcome_reporter.ts';
export type { CallOptions, DefaultOptions, Guarded, ProtectedFunction, ProtectSpec } from './protect.ts';
export type { Run } from './run_approved.ts';
export type * from './wire.ts';
