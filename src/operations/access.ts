import type { Approval } from '../core/approval.ts';
import type { LockedApproval } from '../core/approval_ports.ts';
import type { Caller, Role } from '../core/caller.ts';
import { notFound } from '../core/common_faults.ts';
import { parseId } from '../core/ids.ts';
import type { Deps } from './deps.ts';

/** Roles that read every approval of their tenant; an agent reads its own. */
const READER_ROLES: readonly Role[] = ['approver', 'operator', 'auditor'];

/** Whether the caller reads approvals of other principals. */
export function readsAll(caller: Caller): boolean {
  return caller.roles.some((role) => READER_ROLES.includes(role));
}

/** The approval if this caller may read it. @throws Fault `not_found`. */
export function assertReadable(approval: Approval | undefined, caller: Caller): Approval {
  if (approval === undefined || approval.tenantId !== caller.tenantId) throw notFound();
  if (!readsAll(caller) && approval.agent !== caller.principal) throw notFound();
  return approval;
}

/** The locked approval if this caller may read it. @throws Fault `not_found`. */
export function assertLockedReadable(locked: LockedApproval | undefined, caller: Caller): LockedApproval {
  if (locked === undefined) throw notFound();
  assertReadable(locked.approval, caller);
  return locked;
}

/** The UUID in an approval's id; an id of any other form is simply not found. */
export function parseApprovalId(id: string): string {
  const uuid = parseId('approval', id);
  if (uuid === undefined) throw notFound();
  return uuid;
}

/** Reads an approval for a caller. @throws Fault `not_found`. */
export async function getReadable(deps: Deps, caller: Caller, id: string): Promise<Approval> {
  return assertReadable(await deps.approvals.find(caller.tenantId, parseApprovalId(id)), caller);
}
