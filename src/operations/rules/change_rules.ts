import type { Caller } from '../../core/caller.ts';
import { unavailable } from '../../core/common_faults.ts';
import type { Fault } from '../../core/fault.ts';
import type { Rules, RulesProblem } from '../../core/rules.ts';
import type { ActiveRules } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { type CurrentRules, readCurrentRules } from './current_rules.ts';
import { staleRevision } from './rules_fault.ts';

/** How often a change is made anew because another came first. */
const TRIES = 10;

export interface RulesChange {
  /** The revision that the caller has read; undefined where any will do. */
  expectedRevision: string | undefined;
  note: string | null;
  /** The tenant's rules after the change; it may run more than once. @throws Fault for what cannot be changed so. */
  apply: (rules: Rules) => Rules;
  /** The fault for rules that do not compile. */
  refuse: (problems: readonly RulesProblem[]) => Fault;
}

/** Compiles the changed rules and activates them, or undefined when another change came first. */
async function changeOnce(
  deps: Deps,
  caller: Caller,
  change: RulesChange,
  current: CurrentRules,
): Promise<ActiveRules | undefined> {
  const rules = change.apply(current.rules);
  const { expectedRevision: expected } = change;
  if (expected !== undefined && expected !== current.active.revision) throw staleRevision();
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') throw change.refuse(compiled.problems);
  // Ready before it is active: no request waits for it.
  deps.policy.keep(compiled.set);
  const { revision } = compiled.set;
  const next = {
    tenantId: caller.tenantId,
    revision,
    baseDigest: current.baseDigest,
    rules,
    note: change.note,
  };
  const activated = await deps.revisions.activate(next, current.seen, caller);
  return activated === 'moved'
    ? undefined
    : { revision, baseDigest: current.baseDigest, rules, ...activated };
}

/**
 * Changes a tenant's rules, on top of whatever is active: a change that came meanwhile is kept, and this one made
 * anew upon it. What does not compile is refused, and the active rules stay.
 * @throws Fault of `apply` and `refuse`; `stale_version` unless the expected revision is the active one;
 *   `throttled`, `unauthenticated`, `unavailable`.
 */
export function changeRules(deps: Deps, caller: Caller, change: RulesChange): Promise<ActiveRules> {
  return deps.compiler.inTurn(caller.tenantId, () => changeInTurn(deps, caller, change));
}

async function changeInTurn(deps: Deps, caller: Caller, change: RulesChange): Promise<ActiveRules> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const current = await readCurrentRules(deps.revisions, caller.tenantId);
    const changed = await changeOnce(deps, caller, change, current);
    if (changed !== undefined) return changed;
  }
  throw unavailable(new Error('the rules were changed by others all the time'));
}
