import type { Caller } from '../../core/caller.ts';
import { notFound, unavailable } from '../../core/common_faults.ts';
import type { Rules } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';
import { computeBaseDigest } from './base_digest.ts';
import { type PoliciesInForce, toPoliciesInForce } from './policies_in_force.ts';
import { policyInvalid, staleRevision } from './rules_fault.ts';

/** How often it is tried while others activate. */
const TRIES = 10;

/** What a revision is written as; a text of any other form names none. */
const REVISION = /^[0-9a-f]{64}$/;

/** Activates rules that were stored before, if the revision that was active still is; else undefined. */
async function activateOnce(
  deps: Deps,
  caller: Caller,
  rules: Rules,
  expectedRevision: string | undefined,
): Promise<PoliciesInForce | undefined> {
  const from = await deps.tenants.readActiveRevision(caller.tenantId);
  if (expectedRevision !== undefined && expectedRevision !== from) throw staleRevision();
  const compiled = await deps.compiler.compile(rules);
  if (compiled.kind === 'refused') throw policyInvalid(compiled.problems);
  deps.policy.keep(compiled.set);
  const { revision } = compiled.set;
  const baseDigest = computeBaseDigest(rules.base);
  const next = { tenantId: caller.tenantId, revision, baseDigest, rules, note: null };
  const activated = await deps.revisions.activate(next, { revision: from, baseInForce: null }, caller);
  if (activated === 'moved') return undefined;
  return toPoliciesInForce(deps, caller.tenantId, { revision, baseDigest, rules, ...activated });
}

/**
 * Goes back, or forth, to a revision that the tenant had before: its policies, tools and permissions, and the base
 * rules it had then.
 * @throws Fault `not_found` for a revision that the tenant never had; `stale_version` unless the expected revision is
 *   the active one; `policy_invalid` when this version no longer takes it; `unauthenticated`, `unavailable`.
 */
export async function activateRevision(
  deps: Deps,
  caller: Caller,
  revision: string,
  expectedRevision: string | undefined,
): Promise<PoliciesInForce> {
  if (!REVISION.test(revision)) throw notFound();
  const rules = await deps.revisions.findRules(caller.tenantId, revision);
  if (rules === undefined) throw notFound();
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const activated = await activateOnce(deps, caller, rules, expectedRevision);
    if (activated !== undefined) return activated;
  }
  throw unavailable(new Error('the rules were changed by others all the time'));
}
