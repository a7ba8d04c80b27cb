import type { Caller } from '../../core/caller.ts';
import { notFound } from '../../core/common_faults.ts';
import type { Deps } from '../deps.ts';
import { changeRules } from './change_rules.ts';
import { type PoliciesInForce, toPoliciesInForce } from './policies_in_force.ts';
import { revisionInvalid } from './rules_fault.ts';

/** What a revision is written as; a text of any other form names none. */
const REVISION = /^[0-9a-f]{64}$/;

/**
 * Goes back, or forth, to the policies, tools and permissions of a revision that the tenant had before. The base rules
 * are no operator's to take back: those in force stay, so that what becomes active is another revision when they have
 * changed since.
 * @throws Fault `not_found` for a revision that the tenant never had; `stale_version` unless the expected revision is
 *   the active one; `policy_invalid` when its rules do not go with the base rules in force, or this version no longer
 *   takes them; `throttled`, `unauthenticated`, `unavailable`.
 */
export async function activateRevision(
  deps: Deps,
  caller: Caller,
  revision: string,
  expectedRevision: string | undefined,
): Promise<PoliciesInForce> {
  if (!REVISION.test(revision)) throw notFound();
  const former = await deps.revisions.findRules(caller.tenantId, revision);
  if (former === undefined) throw notFound();
  const changed = await changeRules(deps, caller, {
    expectedRevision,
    note: null,
    apply: ({ base }) => ({ ...former, base }),
    refuse: revisionInvalid,
  });
  return toPoliciesInForce(deps, caller.tenantId, changed);
}
