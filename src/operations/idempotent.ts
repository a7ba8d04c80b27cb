import type { DecisionContext } from '../core/action.ts';
import type { Caller } from '../core/caller.ts';
import { canonicalize } from '../core/canonical_json.ts';
import { idempotencyInFlight, revisionNotLoaded } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import { Fault } from '../core/fault.ts';
import type { IdempotencyClaim } from '../core/ports.ts';
import type { Deps } from './deps.ts';

const ROUTE = 'POST /v1/authorize';

/**
 * What an answer rests on beside the request itself. Where it has changed, a repeat is decided anew under the
 * same key (NO SILENT DRIFT): the context as used stands for the key's limits.
 */
function computeStanding(caller: Caller, context: DecisionContext, policyRevision: string): string {
  return sha256Hex(
    canonicalize({
      policy_revision: policyRevision,
      context: { ...context },
      groups: [...caller.groups],
      owner: caller.owner,
    }),
  );
}

/**
 * Answers once per idempotency key: the first request claims the key and decides, repeats get its answer, which is
 * kept as JSON.
 * @throws Fault `idempotency_key_reused` for another body under the key, `idempotency_in_flight` while the first
 *   is being answered, and whatever `decide` throws.
 */
export async function claimAnswer<Answer>(
  deps: Deps,
  caller: Caller,
  context: DecisionContext,
  idempotency: { key: string; fingerprint: string },
  decide: (claim: IdempotencyClaim) => Promise<Answer>,
): Promise<{ answer: Answer; replayed: boolean }> {
  const policyRevision = deps.policy.current().revision;
  const claim: IdempotencyClaim = {
    tenantId: caller.tenantId,
    principal: caller.principal,
    route: ROUTE,
    key: idempotency.key,
    fingerprint: idempotency.fingerprint,
    standing: computeStanding(caller, context, policyRevision),
    policyRevision,
    leaseId: deps.newUuid(),
  };
  const outcome = await deps.idempotency.claim(claim);
  if (outcome.kind === 'replay') return { answer: JSON.parse(outcome.answer) as Answer, replayed: true };
  if (outcome.kind === 'revision_moved') throw revisionNotLoaded();
  if (outcome.kind === 'reused') {
    throw new Fault(
      'idempotency_key_reused',
      'this `Idempotency-Key` was used with another body. Make a new key for a new request',
    );
  }
  if (outcome.kind === 'in_flight') {
    throw idempotencyInFlight();
  }
  try {
    return { answer: await decide(claim), replayed: false };
  } catch (error) {
    // Best effort: unreleased, the claim ends with its lease.
    await deps.idempotency.release(claim).catch(() => undefined);
    throw error;
  }
}
