import type { Caller } from '../../core/caller.ts';
import { EMPTY_EXEC_APPROVALS, type ShownExecApprovals } from '../../core/exec_approvals.ts';
import type { Deps } from '../deps.ts';
import { assertNodeId } from './node_id.ts';

/** A document as it is read; `hash` is null where nothing is stored. */
export interface ExecApprovals {
  document: ShownExecApprovals;
  hash: string | null;
}

/**
 * Exec approvals of the caller's tenant, or of one of its nodes: of the calls made in the workspace of that name. Where
 * nothing is stored the document is empty, and commands are left to policy.
 * @throws Fault `invalid_request` for a node's id that no workspace has.
 */
export async function getExecApprovals(
  deps: Pick<Deps, 'execApprovals'>,
  caller: Pick<Caller, 'tenantId'>,
  nodeId: string | null,
): Promise<ExecApprovals> {
  assertNodeId(nodeId);
  const stored = await deps.execApprovals.find(caller.tenantId, nodeId);
  if (stored === undefined) return { document: EMPTY_EXEC_APPROVALS, hash: null };
  return { document: stored.document, hash: stored.hash };
}
