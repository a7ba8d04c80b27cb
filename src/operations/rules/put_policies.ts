import type { Caller } from '../../core/caller.ts';
import type { Deps } from '../deps.ts';
import { maskWords } from '../masking.ts';
import { changeRules } from './change_rules.ts';
import { type PoliciesInForce, toPoliciesInForce } from './policies_in_force.ts';
import { policyInvalid } from './rules_fault.ts';

export interface PutPoliciesInput {
  /** The tenant's whole own set. */
  text: string;
  note: string | null;
  expectedRevision: string | undefined;
}

/**
 * Replaces the tenant's own policies and activates the set. A text that does not parse or validate changes nothing.
 * @throws Fault `policy_invalid`, `stale_version`, `throttled`, `unauthenticated`, `unavailable`.
 */
export async function putPolicies(
  deps: Deps,
  caller: Caller,
  { text, note, expectedRevision }: PutPoliciesInput,
): Promise<PoliciesInForce> {
  const { tenantId } = caller;
  const split = await deps.compiler.inTurn(tenantId, () => deps.compiler.splitText(text));
  if (split.kind === 'refused') throw policyInvalid(split.problems);
  const { policies } = split;
  const changed = await changeRules(deps, caller, {
    expectedRevision,
    note: maskWords(caller, note),
    apply: (rules) => ({ ...rules, policies }),
    refuse: policyInvalid,
  });
  return toPoliciesInForce(deps, tenantId, changed);
}
