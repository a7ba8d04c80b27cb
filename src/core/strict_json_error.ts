/** Why a text is not the I-JSON (RFC 7493) this project reads; names of the wire contract. */
export type StrictJsonReason =
  | 'syntax'
  | 'invalid_utf8'
  | 'duplicate_member'
  | 'lone_surrogate'
  | 'inexact_number'
  | 'too_deep'
  | 'too_many_members'
  | 'reserved_member';

/** One fault in a text. `pointer` is a JSON Pointer (RFC 6901) to the value at fault, `''` for the whole text. */
export interface StrictJsonIssue {
  pointer: string;
  reason: StrictJsonReason;
}

/** A text was refused. `issues` holds the first fault met: reading stops there. */
export class StrictJsonError extends Error {
  readonly issues: StrictJsonIssue[];

  constructor(issue: StrictJsonIssue, options?: ErrorOptions) {
    super(`text is not strict json: ${issue.reason} at \`${issue.pointer}\``, options);
    this.name = 'StrictJsonError';
    this.issues = [issue];
  }
}
