import { and, eq, type SQL, sql } from 'drizzle-orm';
import { type AllowlistEntry, asksOnMiss, resolveExecRules } from '../core/exec_approvals.ts';
import { addEntries, computeExecApprovalsHash } from '../core/exec_approvals_document.ts';
import type { SeenExecApprovals } from '../core/exec_ports.ts';
import { Fault } from '../core/fault.ts';
import type { Executor } from './database.ts';
import { TENANT_DOCUMENT } from './exec_documents.ts';
import { execApprovals } from './exec_schema.ts';

// What decisions and votes have to do with exec approvals, within their own transactions.

/**
 * Conditions for a writing statement itself: the documents are those that were seen. No lock is held on them: those who
 * share one let each other pass, and an operator who tightens them would wait for as long as commands keep coming.
 */
export function stillSeen(tenantId: string, { tenant, workspace, node }: SeenExecApprovals): SQL[] {
  const isHash = (nodeId: string, hash: string | null) => sql`(select d.hash from exec_approvals d
    where d.tenant_id = ${tenantId} and d.node_id = ${nodeId}) is not distinct from ${hash}::text`;
  return [isHash(TENANT_DOCUMENT, tenant), ...(workspace === null ? [] : [isHash(workspace, node)])];
}

/**
 * Adds entries to an agent's allowlist in the tenant's document, under the document's lock, so that concurrent
 * additions lose none. Nothing is added once the document is gone or no longer asks for this agent on a miss.
 * @throws Fault `invalid_request` when the document can take no more.
 */
export async function addAllowlistEntries(
  tx: Executor,
  actor: { tenantId: string; principal: string },
  agent: string,
  entries: readonly AllowlistEntry[],
): Promise<void> {
  const isTenants = and(
    eq(execApprovals.tenantId, actor.tenantId),
    eq(execApprovals.nodeId, TENANT_DOCUMENT),
  );
  const [row] = await tx
    .select({ document: execApprovals.document })
    .from(execApprovals)
    .where(isTenants)
    .for('no key update');
  // What was judged before the lock was had may be the past: an operator who stopped this is not overruled.
  if (row === undefined || !asksOnMiss(resolveExecRules(row.document, agent))) return;
  const document = addEntries(row.document, agent, entries);
  if (document === undefined) {
    throw new Fault(
      'invalid_request',
      'exec approvals have as many entries as they may. Send another scope, or ask an operator to take some out',
      { issues: [{ pointer: '/scope', reason: 'there is no room for further entries' }] },
    );
  }
  if (document === row.document) return;
  await tx
    .update(execApprovals)
    .set({
      document,
      hash: computeExecApprovalsHash(document),
      updatedAt: sql`clock_timestamp()` as unknown as Date,
      updatedBy: actor.principal,
    })
    .where(isTenants);
}
