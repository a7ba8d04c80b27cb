import type { Approval } from '../core/approval.ts';
import type { ApprovalChange, LockedApproval } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import { revisionNotLoaded } from '../core/common_faults.ts';
import type { PolicySet } from '../core/policy.ts';
import type { Deps } from './deps.ts';

/** How often the rules are looked up anew because another revision became the active one meanwhile. */
const TRIES = 3;

/** Thrown under the row's lock, so that nothing is written by rules that no longer decide. */
class RevisionMoved extends Error {
  constructor(readonly revision: string) {
    super('another revision is active');
  }
}

/**
 * A change of an approval that policy has a say in: `judge` gets the rules that are active while the row is locked
 * (NO SILENT DRIFT), and the caller with the groups they are in now. See `ApprovalStore.transition`.
 * @throws Fault `unavailable` when those rules cannot be loaded here.
 */
export async function transitionByRules(
  deps: Deps,
  caller: Caller,
  approvalId: string,
  judge: (policy: PolicySet, locked: LockedApproval | undefined, caller: Caller) => ApprovalChange[],
): Promise<Approval> {
  let revision = caller.tenant.activeRevision;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const policy = await deps.policy.load(caller.tenantId, revision);
    try {
      return await deps.approvals.transition(caller, approvalId, (locked) => {
        if (locked !== undefined && locked.activeRevision !== policy.revision) {
          throw new RevisionMoved(locked.activeRevision);
        }
        // Groups may have changed since the credential was looked up.
        return judge(policy, locked, locked ? { ...caller, groups: locked.callerGroups } : caller);
      });
    } catch (error) {
      if (!(error instanceof RevisionMoved)) throw error;
      revision = error.revision;
    }
  }
  throw revisionNotLoaded();
}
