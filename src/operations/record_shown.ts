import type { Approval } from '../core/approval.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

/**
 * Notes that a person who may decide was shown an approval that waits for it. Call it where the whole of one approval
 * is shown; a list shows none.
 * @throws Fault `unavailable`: what cannot be noted is not shown, so that no vote is cast unseen by the record.
 */
export async function recordShown(deps: Deps, caller: Caller, approval: Approval): Promise<void> {
  if (approval.status !== 'pending' || !caller.roles.includes('approver')) return;
  await deps.approvals.recordShown(caller.tenantId, approval.approvalId, caller.principal);
}
