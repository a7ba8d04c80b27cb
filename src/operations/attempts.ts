import type { Caller } from '../core/caller.ts';
import { sha256Hex } from '../core/digest.ts';
import { Fault, type FaultCode } from '../core/fault.ts';
import type { Deps } from './deps.ts';

/** What counts as a failed attempt on an approval; what only says "too early" or "too late" does not. */
const ATTEMPT_CODES: ReadonlySet<FaultCode> = new Set([
  'action_hash_mismatch',
  'view_hash_mismatch',
  'binding_mismatch',
  'stale_version',
  'not_found',
  'forbidden',
  'self_approval_forbidden',
  'approver_not_eligible',
  'scope_not_allowed',
  'signature_required',
  'signature_invalid',
]);

/**
 * The counter of (tenant, id, credential): nobody's failures lock another credential out, and ids that do not
 * exist count alike, so that being throttled tells nothing.
 */
export function computeAttemptKey(caller: Caller, id: string): string {
  return `attempt:${sha256Hex(JSON.stringify([caller.tenantId, id, caller.keyId]))}`;
}

async function countFailure(deps: Deps, attemptKey: string, error: unknown): Promise<void> {
  if (!(error instanceof Fault)) return;
  if (error.code === 'action_hash_mismatch') deps.metrics.countHashMismatch();
  if (ATTEMPT_CODES.has(error.code)) await deps.throttle.countFailedAttempt(attemptKey);
}

/**
 * Runs a call on one approval under its attempt counter: refused before anything is looked at when too many
 * attempts failed, counted when this one fails.
 * @throws Fault `throttled`, and whatever `run` throws.
 */
export async function guardAttempts<T>(
  deps: Deps,
  caller: Caller,
  id: string,
  run: () => Promise<T>,
): Promise<T> {
  const attemptKey = computeAttemptKey(caller, id);
  await deps.throttle.assertAttemptsLeft(attemptKey);
  try {
    return await run();
  } catch (error) {
    await countFailure(deps, attemptKey, error);
    throw error;
  }
}

/**
 * The same for consume, whose own statement tests the counter: it is read only once the call has failed, and then
 * says first whether the attempt should have been looked at at all. Counts what is refused, as it is answered.
 */
export async function guardConsumeAttempts<T>(
  deps: Deps,
  caller: Caller,
  id: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const refusal = await findRefusal(deps, computeAttemptKey(caller, id), error);
    if (refusal instanceof Fault) deps.metrics.countConsumeRefused(refusal.code);
    throw refusal;
  }
}

/** What a failed consume is answered with: its own fault, unless the counter is full or cannot be read. */
async function findRefusal(deps: Deps, attemptKey: string, error: unknown): Promise<unknown> {
  try {
    await deps.throttle.assertAttemptsLeft(attemptKey);
    await countFailure(deps, attemptKey, error);
    return error;
  } catch (refusal) {
    return refusal;
  }
}
