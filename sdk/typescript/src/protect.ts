import { type ActionSpec, copySpec, freezeAction, parseAction, resolveResource } from './action_spec.ts';
import { sendAuthorize } from './calls.ts';
import type { Connection } from './connection.ts';
import { type Defined, definedMembers } from './defined.ts';
import { randomToken, sha256Hex } from './digest.ts';
import { hasSameTarget } from './effective_action.ts';
import { IntegrityError, type PendingApproval } from './errors.ts';
import type { OutcomeReporter } from './outcome_reporter.ts';
import { decisionError } from './refusals.ts';
import { type Run, runWhenApproved } from './run_approved.ts';
import { toJsonValue } from './to_json_value.ts';
import type { AuthorizeAnswer, AuthorizeContext, Binding, ToolCall } from './wire.ts';

/** What a guarded function does, and the circumstances it is called in. */
export interface ProtectSpec<P extends object> extends ActionSpec<P> {
  /** Sent with each call, with wire names; a call's own context is laid over it. */
  context?: AuthorizeContext | undefined;
}

/** How one call goes; given to `protect` they are the defaults of every call. */
export interface CallOptions {
  /**
   * How long to wait for a person, in milliseconds, before a `PendingError`; 0 looks once. Without it: until the
   * approval is decided or expires.
   */
  waitMs?: number | undefined;
  /** Ends the call with the signal's reason. The approval stays as it is; a function already running is not stopped. */
  signal?: AbortSignal | undefined;
  /** What to do when a person edited the parameters: run the edited ones (default), or cancel and throw. */
  onEdited?: 'run' | 'refuse' | undefined;
  /**
   * Called once when an approval was asked for, before the wait: the place to store what `resume` needs. What it throws
   * ends the call.
   */
  onPending?: ((pending: PendingApproval) => void | Promise<void>) | undefined;
  /** Laid over the spec's context. */
  context?: AuthorizeContext | undefined;
}

/** Options of every call of a guarded function; its context stands in the spec. */
export type DefaultOptions = Omit<CallOptions, 'context'>;

/** A function that runs only what was decided, exactly once per approval. */
export interface Guarded<P extends object, R> {
  (parameters: P, options?: CallOptions): Promise<R>;
  /** Takes up a call that ended in a `PendingError`, from that error or its JSON, in any process. */
  resume(
    pending: PendingApproval | { toJSON(): PendingApproval },
    options?: Omit<CallOptions, 'onPending'>,
  ): Promise<R>;
}

export type ProtectedFunction<P extends object, R> = (parameters: P, run: Run) => R | Promise<R>;

/** Guards `fn` by the SDK's sequence (integrity.md). Throws a `TypeError` on a spec or options that are none. */
export function protect<P extends object, R>(
  connection: Connection,
  reporter: OutcomeReporter,
  given: ProtectSpec<P>,
  fn: ProtectedFunction<P, R>,
  givenDefaults: DefaultOptions = {},
): Guarded<P, R> {
  const spec = copySpec(given);
  const specContext = copyContext(given.context);
  const defaults = copyOptions(givenDefaults);
  // Parsed anew for each run: what the function gets is nobody else's (EXACT BYTES).
  const run = async (text: string, told: Run): Promise<R> => fn(parseAction(text).parameters as P, told);

  const whenApproved = (pending: PendingApproval, decisionId: string, options: MergedOptions): Promise<R> =>
    runWhenApproved({
      connection,
      reporter,
      pending,
      decisionId,
      binding: bindingOf(options.context),
      run,
      waitMs: options.waitMs,
      signal: options.signal,
      onEdited: options.onEdited ?? 'run',
    });

  const guarded = async (parameters: P, callOptions?: CallOptions): Promise<R> => {
    // Up to the text there is no await: the caller's objects are not looked at again.
    const options = mergeOptions(defaults, specContext, callOptions);
    const text = freezeAction(spec, parameters);
    const hash = await sha256Hex(text);
    const answer = await ask(connection, text, hash, options);
    if (answer.decision === 'allow') {
      options.signal?.throwIfAborted();
      return run(text, allowedRun(answer, options.signal));
    }
    if (answer.decision !== 'require_approval' || answer.approval === null) {
      throw decisionError(answer);
    }
    const { approval_id } = answer.approval;
    const pending = { approval_id, original_action_hash: hash, canonical_action: text };
    await options.onPending?.({ ...pending });
    return whenApproved(pending, answer.decision_id, options);
  };

  const resume: Guarded<P, R>['resume'] = async (stored, callOptions) => {
    const options = mergeOptions(defaults, specContext, callOptions);
    const pending = readPending(stored);
    options.signal?.throwIfAborted();
    await checkResumable(spec, pending);
    return whenApproved(pending, pending.approval_id, options);
  };

  return Object.assign(guarded, { resume });
}

/** What a function is told that policy allowed without a person. */
function allowedRun({ decision_id, action_hash }: AuthorizeAnswer, signal: AbortSignal | undefined): Run {
  return {
    runId: decision_id,
    decisionId: decision_id,
    approvalId: null,
    actionHash: action_hash,
    edited: false,
    signal,
    setOutcome: () => undefined,
  };
}

/** A copy of a pending call's three members; throws a `TypeError` when it is something else. */
function readPending(stored: unknown): PendingApproval {
  const isWritable = isRecord(stored) && typeof stored.toJSON === 'function';
  const value: unknown = isWritable ? (stored as { toJSON(): unknown }).toJSON() : stored;
  const { approval_id, original_action_hash, canonical_action } = isRecord(value) ? value : {};
  if (
    typeof approval_id !== 'string' ||
    typeof original_action_hash !== 'string' ||
    typeof canonical_action !== 'string'
  ) {
    throw new TypeError(
      'what is resumed is not a pending approval. Pass the `PendingError` or its parsed JSON',
    );
  }
  return { approval_id, original_action_hash, canonical_action };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Throws an `IntegrityError` unless a pending call is this function's own and its text is what its hash says. */
async function checkResumable<P extends object>(
  spec: ActionSpec<P>,
  pending: PendingApproval,
): Promise<void> {
  if ((await sha256Hex(pending.canonical_action)) !== pending.original_action_hash) {
    throw new IntegrityError('the text of the pending call does not hash to its hash');
  }
  const asked = parsePending(pending.canonical_action);
  const own: ToolCall = {
    tool: spec.tool,
    action: spec.action,
    resource: resolveResource(spec, asked.parameters),
    mutates_state: spec.mutatesState,
    parameters: asked.parameters,
  };
  if (!hasSameTarget(asked, own)) {
    throw new IntegrityError('the pending call is of another function. Resume it with the one that asked');
  }
}

function parsePending(text: string): ToolCall {
  try {
    return parseAction(text);
  } catch (cause) {
    throw new IntegrityError('the text of the pending call is not a canonical action', { cause });
  }
}

type OwnOptions = Defined<DefaultOptions>;

interface MergedOptions extends OwnOptions {
  context: AuthorizeContext;
}

function mergeOptions(
  defaults: OwnOptions,
  specContext: AuthorizeContext,
  own: CallOptions | undefined,
): MergedOptions {
  const { context, ...options } = own ?? {};
  return { ...defaults, ...copyOptions(options), context: { ...specContext, ...copyContext(context) } };
}

/** A copy that later changes do not reach, without members that are `undefined`: they would hide a default. */
function copyOptions(given: DefaultOptions): OwnOptions {
  const options = definedMembers(given);
  const { waitMs, onEdited } = options;
  if (waitMs !== undefined && !(typeof waitMs === 'number' && waitMs >= 0)) {
    throw new TypeError('`waitMs` is not a number of milliseconds from 0');
  }
  if (onEdited !== undefined && onEdited !== 'run' && onEdited !== 'refuse') {
    throw new TypeError('`onEdited` is `run` or `refuse`');
  }
  return options;
}

function copyContext(context: AuthorizeContext | undefined): AuthorizeContext {
  return context === undefined ? {} : (toJsonValue(context) as AuthorizeContext);
}

/** The text is kept and sent as it stands; a key of its own makes asking again after a lost answer safe. */
function ask(
  connection: Connection,
  text: string,
  hash: string,
  options: MergedOptions,
): Promise<AuthorizeAnswer> {
  options.signal?.throwIfAborted();
  return sendAuthorize(connection, {
    text,
    hash,
    context: Object.keys(options.context).length === 0 ? undefined : options.context,
    dryRun: false,
    idempotencyKey: randomToken(),
    signal: options.signal,
  });
}

/** What an approval is bound to beside its action; a member this caller does not name is not compared. */
function bindingOf(context: AuthorizeContext): Binding {
  const binding: Binding = {};
  for (const name of ['workspace', 'environment', 'session_id'] as const) {
    const value = context[name];
    if (typeof value === 'string') {
      binding[name] = value;
    }
  }
  return binding;
}
