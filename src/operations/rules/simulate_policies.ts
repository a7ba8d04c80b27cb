import type { Caller } from '../../core/caller.ts';
import type { Flip } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { readCandidate } from './candidate_rules.ts';
import { policyInvalid } from './rules_fault.ts';

const DAY_MS = 86_400_000;
const LIMIT_DEFAULT = 1000;

/** How many decisions one simulation takes at most. */
export const SIMULATED_MAX = 10_000;

export interface SimulateInput {
  /** The tenant's whole own set, as it might be. */
  text: string;
  /** Decisions from this time on; undefined for the last 24 hours. */
  since: Date | undefined;
  limit: number | undefined;
}

export interface Simulation {
  evaluated: number;
  flips: Flip[];
  /** Open approvals that the set would void: what they wait for would be denied. */
  voidedApprovals: number;
}

/**
 * What a text, as the tenant's own policies, would decide of calls that were decided before and of the approvals that
 * are open: by policy alone, under the circumstances stored and what agents are now. Nothing is stored.
 * @throws Fault `policy_invalid`, `throttled`, `unavailable`.
 */
export function simulatePolicies(deps: Deps, caller: Caller, input: SimulateInput): Promise<Simulation> {
  return deps.compiler.inTurn(caller.tenantId, () => simulateInTurn(deps, caller, input));
}

async function simulateInTurn(
  deps: Deps,
  caller: Caller,
  { text, since, limit }: SimulateInput,
): Promise<Simulation> {
  const candidate = await readCandidate(deps, caller.tenantId, text);
  if (candidate.kind === 'refused') throw policyInvalid(candidate.problems);
  const from = since ?? new Date(deps.now().getTime() - DAY_MS);
  const calls = await deps.revisions.readPastCalls(caller.tenantId, from, limit ?? LIMIT_DEFAULT);
  const simulated = await deps.compiler.simulate(candidate.rules, calls);
  if (simulated.kind === 'refused') throw policyInvalid(simulated.problems);
  const { flips } = simulated;
  const voided = flips.filter(({ kind, to }) => kind === 'approval' && to === 'deny');
  return { evaluated: calls.length, flips, voidedApprovals: voided.length };
}
