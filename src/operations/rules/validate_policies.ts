import type { Caller } from '../../core/caller.ts';
import type { RulesProblem } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { readCandidate } from './candidate_rules.ts';

/**
 * What `PUT /v1/policies` would refuse this text for; empty when it would take it. Nothing is stored.
 * @throws Fault `throttled`, `unavailable`.
 */
export function validatePolicies(deps: Deps, caller: Caller, text: string): Promise<RulesProblem[]> {
  return deps.compiler.inTurn(caller.tenantId, async () => {
    const candidate = await readCandidate(deps, caller.tenantId, text);
    if (candidate.kind === 'refused') return candidate.problems;
    const compiled = await deps.compiler.compile(candidate.rules);
    return compiled.kind === 'refused' ? compiled.problems : [];
  });
}
