import { parseAction } from './action_spec.ts';
import { approvalPath, sendConsume } from './calls.ts';
import type { Connection } from './connection.ts';
import { randomToken } from './digest.ts';
import { checkConsumed, type EffectiveAction, readEffectiveAction } from './effective_action.ts';
import { AegisError, type PendingApproval, PendingError } from './errors.ts';
import type { OutcomeReporter } from './outcome_reporter.ts';
import { approvalError } from './refusals.ts';
import { waitForDecision } from './wait_for_decision.ts';
import type { Approval, Binding, OutcomeInput } from './wire.ts';

/** What a guarded function is told about its run. */
export interface Run {
  /** The approval's id, or the decision's where there is none. Never two runs under one: the idempotency key to use. */
  runId: string;
  /** The decision that allowed the call or asked for a person; in a resumed call, which knows none, the approval's id. */
  decisionId: string;
  /** Null when policy allowed the call without a person. */
  approvalId: string | null;
  /** Of the action that runs. */
  actionHash: string;
  /** Whether a person's edit changed the parameters. */
  edited: boolean;
  /** The caller's own. */
  signal: AbortSignal | undefined;
  /**
   * Says how the run ended, in place of what is told from its returning (`executed`) or throwing (`failed`, effect
   * unknown). The last one before the end of the function counts. Nothing is reported where no person was asked.
   */
  setOutcome(outcome: OutcomeInput): void;
}

export interface ApprovedCall<R> {
  connection: Connection;
  reporter: OutcomeReporter;
  pending: PendingApproval;
  decisionId: string;
  binding: Binding;
  /** Runs the function on the parameters of a canonical action. */
  run: (text: string, run: Run) => Promise<R>;
  waitMs: number | undefined;
  signal: AbortSignal | undefined;
  onEdited: 'run' | 'refuse';
}

/**
 * Steps 5 to 7 of the SDK's sequence (integrity.md): wait, check, consume, check, run, report. The function runs at
 * most once per call, and only on bytes whose hash was approved and consumed. An `AegisError` of what comes before the
 * run carries the pending call.
 */
export async function runWhenApproved<R>(call: ApprovedCall<R>): Promise<R> {
  const effective = await obtain(call).catch((error: unknown) => {
    if (error instanceof AegisError) {
      error.attachPending(call.pending);
    }
    throw error;
  });
  return runConsumed(call, effective);
}

/** Waits for the decision and spends the approval: the action that may now run. */
async function obtain<R>(call: ApprovedCall<R>): Promise<EffectiveAction> {
  const { connection, pending, signal } = call;
  const approval = await waitForDecision(connection, pending, call);
  if (approval.status !== 'approved') {
    throw approvalError(approval);
  }
  const effective = await readEffectiveAction(approval, pending);
  if (effective.edited && call.onEdited === 'refuse') {
    await cancelQuietly(connection, pending.approval_id);
    throw new AegisError('cancelled', 'the approval was edited and edits are refused here', { approval });
  }
  signal?.throwIfAborted();
  await consume(call, effective, approval);
  return effective;
}

/** Not cut short by the signal: a consume under way may succeed, and then its outcome is reported. */
async function consume<R>(
  call: ApprovedCall<R>,
  effective: EffectiveAction,
  approval: Approval,
): Promise<void> {
  const { connection, pending } = call;
  const sent = await sendConsume(
    connection,
    pending.approval_id,
    { action_hash: effective.hash, consumer_token: randomToken(), binding: call.binding },
    {},
  ).catch((error: unknown) => {
    // Only the status can have moved back; the approval can be taken up again.
    throw error instanceof AegisError && error.code === 'pending'
      ? new PendingError(pending, 'the approval is pending again. Resume it later', { cause: error })
      : error;
  });
  // The token is this call's own: a replay is the answer to an attempt of ours that was lost. Without one, somebody
  // on the way sent the request again, and what became of the first answer is not known here.
  if (sent.answer.replayed && sent.answersLost === 0) {
    await call.reporter.report(pending.approval_id, { outcome: 'unknown', effect: 'unknown' });
    throw new AegisError('already_consumed', 'the approval was consumed before this call did', { approval });
  }
  try {
    await checkConsumed(sent.answer, effective);
    call.signal?.throwIfAborted();
  } catch (error) {
    await call.reporter.report(pending.approval_id, { outcome: 'failed', effect: 'none' });
    throw error;
  }
}

async function runConsumed<R>(call: ApprovedCall<R>, effective: EffectiveAction): Promise<R> {
  const { pending, reporter, signal } = call;
  let told: OutcomeInput | undefined;
  const run: Run = {
    runId: pending.approval_id,
    decisionId: call.decisionId,
    approvalId: pending.approval_id,
    actionHash: effective.hash,
    edited: effective.edited,
    signal,
    setOutcome: (outcome) => {
      told = { ...outcome };
    },
  };
  let result: R;
  try {
    result = await call.run(effective.text, run);
  } catch (error) {
    // Unless the function says it, where it failed is not known here, and so neither is what took effect.
    await reporter.report(pending.approval_id, told ?? { outcome: 'failed', effect: 'unknown' });
    throw error;
  }
  const effect = parseAction(effective.text).mutates_state ? 'occurred' : 'none';
  await reporter.report(pending.approval_id, told ?? { outcome: 'executed', effect });
  return result;
}

/** Leaves no approved approval lying about; whether it worked does not change that nothing runs. */
async function cancelQuietly(connection: Connection, approvalId: string): Promise<void> {
  await connection
    .send({
      what: 'cancel',
      method: 'POST',
      path: `${approvalPath(approvalId)}/cancel`,
      body: '{"reason":"edited parameters are refused by the caller"}',
      repeatable: false,
    })
    .catch(() => undefined);
}
