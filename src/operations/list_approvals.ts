import type { Approval } from '../core/approval.ts';
import type { ApprovalFilter } from '../core/approval_ports.ts';
import type { Caller } from '../core/caller.ts';
import { readsAll } from './access.ts';
import type { Deps } from './deps.ts';

/** A page of approvals, newest first; an agent sees its own only, whatever it filters by. */
export function listApprovals(
  deps: Deps,
  caller: Caller,
  filter: ApprovalFilter,
): Promise<{ items: Approval[]; next: string | null }> {
  if (readsAll(caller)) return deps.approvals.list(caller.tenantId, filter);
  if (filter.agent !== null && filter.agent !== caller.principal) {
    return Promise.resolve({ items: [], next: null });
  }
  return deps.approvals.list(caller.tenantId, { ...filter, agent: caller.principal });
}
