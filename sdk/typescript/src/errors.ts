import type { AegisErrorCode } from './error_code.ts';
import { modelText } from './model_text.ts';
import type { Approval, AuthorizeAnswer, Problem } from './wire.ts';

export interface AegisErrorDetails {
  /** The policy's reason, the person's own words or the problem's detail. */
  reason?: string | null | undefined;
  /** The service's text for the model, which replaces this library's own. */
  instruction?: string | undefined;
  /** The problem details (RFC 9457) the service answered with. */
  problem?: Problem | undefined;
  /** The decision that refused. */
  decision?: AuthorizeAnswer | undefined;
  /** The approval as last seen. */
  approval?: Approval | undefined;
  /** What `resume` needs, once a person was asked. */
  pending?: PendingApproval | undefined;
  /** Seconds after which trying again is worth it. */
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/**
 * The one error class of this library, with a stable `code`. Thrown by a guarded function it means: this call did
 * not run the function. Never holds the key. What may hold an action's parameters (`approval`, `decision`, `pending`)
 * is behind accessors, so that logging an error does not show them. Nor does its JSON, but for a `PendingError`, whose
 * JSON is what `resume` needs, parameters included.
 */
export class AegisError extends Error {
  readonly code: AegisErrorCode;
  #details: AegisErrorDetails;

  constructor(code: AegisErrorCode, message: string, details: AegisErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'AegisError';
    this.code = code;
    this.#details = details;
  }

  /** The policy's reason, the person's own words or the problem's detail; null when none was given. */
  get reason(): string | null {
    return this.#details.reason ?? null;
  }

  get problem(): Problem | undefined {
    return this.#details.problem;
  }

  get decision(): AuthorizeAnswer | undefined {
    return this.#details.decision;
  }

  get approval(): Approval | undefined {
    return this.#details.approval;
  }

  /**
   * What `resume` needs, on every error of a guarded call after a person was asked: as long as the code does not say
   * that the approval ended, `resume` takes the call up again without asking anybody twice.
   */
  get pending(): PendingApproval | undefined {
    return this.#details.pending && { ...this.#details.pending };
  }

  get retryAfterSeconds(): number | undefined {
    return this.#details.retryAfterSeconds;
  }

  /** Text to hand to the agent's model in place of the function's result. A person's words in it are quoted. */
  get forModel(): string {
    return this.#details.instruction ?? modelText(this.code, this.reason, this.pending !== undefined);
  }

  /**
   * For the guarded call that asked, which alone knows it.
   * @internal
   */
  attachPending(pending: PendingApproval): void {
    this.#details = { ...this.#details, pending };
  }
}

/** Something that was approved, answered or handed in is not what it must be. Nothing was run. */
export class IntegrityError extends AegisError {
  declare readonly code: 'integrity';

  constructor(message: string, details: AegisErrorDetails = {}) {
    super('integrity', message, details);
    this.name = 'IntegrityError';
  }
}

/** What takes up a pending call again, in another process too: plain JSON, safe to store, not a secret of its own. */
export interface PendingApproval {
  approval_id: string;
  /** SHA-256 of `canonical_action`: the action that was asked for, before any edit. */
  original_action_hash: string;
  /** The canonical text (RFC 8785) of the action that was asked for, parameters included. */
  canonical_action: string;
}

/** Nobody has decided yet and the caller waits no longer. Not a denial: pass it, or its JSON, to `resume`. */
export class PendingError extends AegisError {
  declare readonly code: 'pending';

  constructor(pending: PendingApproval, message: string, details: AegisErrorDetails = {}) {
    super('pending', message, { ...details, pending });
    this.name = 'PendingError';
  }

  override get pending(): PendingApproval {
    return super.pending as PendingApproval;
  }

  get approvalId(): string {
    return this.pending.approval_id;
  }

  /** All that `resume` needs. */
  toJSON(): PendingApproval {
    return this.pending;
  }
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): error is AegisError {
  return error instanceof AegisError && (error.code === 'unavailable' || error.code === 'throttled');
}
