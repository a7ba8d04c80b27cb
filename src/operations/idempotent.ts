import type { DecisionContext } from '../core/action.ts';
import type { Caller } from '../core/caller.ts';
import { canonicalize } from '../core/canonical_json.ts';
import { idempotencyInFlight, revisionNotLoaded } from '../core/common_faults.ts';
import { sha256Hex } from '../core/digest.ts';
import type { SeenExecApprovals } from '../core/exec_ports.ts';
import { Fault } from '../core/fault.ts';
import type { IdempotencyClaim } from '../core/ports.ts';
import type { Deps } from './deps.ts';

const ROUTE = 'POST /v1/authorize';

/**
 * What an answer rests on beside the request itself. Where it has changed, a repeat is decided anew under the
 * same key (NO SILENT DRIFT): the context as used stands for the key's limits.
 */
export function computeStanding(
  caller: Caller,
  { context, paused, exec }: StandingCall,
  policyRevision: string,
): string {
  const { now: _, ...circumstances } = context;
  return sha256Hex(
    canonicalize({
      policy_revision: policyRevision,
      context: { ...circumstances },
      groups: [...caller.groups],
      owner: caller.owner,
      risk_tier: caller.riskTier,
      skill: caller.limits.skill,
      paused,
      exec: exec && { ...exec },
    }),
  );
}

interface StandingCall {
  context: DecisionContext;
  /** Whether the agent or its session is paused. */
  paused: boolean;
  /** Which exec approvals were read; null for what is no command. */
  exec: SeenExecApprovals | null;
}

/** How often a key is claimed anew because the active revision moved meanwhile. */
const TRIES = 3;

/**
 * Answers once per idempotency key: the first request claims the key and decides, repeats get its answer, which is
 * kept as JSON.
 * @throws Fault `idempotency_key_reused` for another body under the key, `idempotency_in_flight` while the first
 *   is being answered, and whatever `decide` throws.
 */
export async function claimAnswer<Answer>(
  deps: Deps,
  caller: Caller,
  call: StandingCall,
  idempotency: { key: string; fingerprint: string },
  decide: (claim: IdempotencyClaim) => Promise<Answer>,
): Promise<{ answer: Answer; replayed: boolean }> {
  const { claim, outcome } = await claimKey(deps, caller, call, idempotency);
  if (outcome.kind === 'replay') return { answer: JSON.parse(outcome.answer) as Answer, replayed: true };
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

type Claimed = Exclude<Awaited<ReturnType<Deps['idempotency']['claim']>>, { kind: 'revision_moved' }>;

/** Claims the key under the revision that is active now. @throws Fault `unavailable` when that never rests. */
async function claimKey(
  deps: Deps,
  caller: Caller,
  call: StandingCall,
  idempotency: { key: string; fingerprint: string },
): Promise<{ claim: IdempotencyClaim; outcome: Claimed }> {
  let policyRevision = caller.tenant.activeRevision;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const claim: IdempotencyClaim = {
      tenantId: caller.tenantId,
      principal: caller.principal,
      route: ROUTE,
      key: idempotency.key,
      fingerprint: idempotency.fingerprint,
      standing: computeStanding(caller, call, policyRevision),
      policyRevision,
      leaseId: deps.newUuid(),
    };
    const outcome = await deps.idempotency.claim(claim);
    if (outcome.kind !== 'revision_moved') return { claim, outcome: outcome as Claimed };
    policyRevision = await deps.tenants.readActiveRevision(caller.tenantId);
  }
  throw revisionNotLoaded();
}
