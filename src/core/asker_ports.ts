import type { Approval } from './approval.ts';

// What the operations need to know and keep of asks that end with the connection that waits for their answer, and of
// those who hear of them. Errors are those of `ports.ts`.

/** The subject of `Signals` on which a tenant's approvals are heard of: one was made, changed or ended. */
export function approvalsSubject(tenantId: string): string {
  return `approvals:${tenantId}`;
}

/** What is published of a tenant's approvals that changed: each of them and all together; nothing where none did. */
export function subjectsOf(tenantId: string, approvalIds: readonly string[]): string[] {
  return approvalIds.length === 0 ? [] : [...approvalIds, approvalsSubject(tenantId)];
}

/** A connection that waits for answers; its id is a UUID. */
export interface Asker {
  tenantId: string;
  connectionId: string;
}

export interface AskerStore {
  /** Every command of the tenant that waits for a person, oldest first; none whose asker is gone. */
  listPendingCommands(tenantId: string): Promise<Approval[]>;
  /** Says of connections that they are still there. An ask whose row somebody else holds is left for the next time. */
  renew(askers: readonly Asker[]): Promise<void>;
  /** Cancels what a connection still waits for, or the one approval named, in one statement, in its agent's name. */
  withdraw(asker: Asker, approvalId: string | null): Promise<void>;
  /** Cancels, of every tenant, what is pending though its connection was not heard of within its lease. */
  withdrawAbandoned(): Promise<void>;
}
