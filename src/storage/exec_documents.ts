import { and, eq, inArray } from 'drizzle-orm';
import { type AgentExecRules, type ExecApprovalsDocument, resolveExecRules } from '../core/exec_approvals.ts';
import type { Executor } from './database.ts';
import { execApprovals } from './exec_schema.ts';

/** The node id of a tenant's own document. */
export const TENANT_DOCUMENT = '';

/** A document in force. */
export interface ExecDocument {
  /** `''` for the tenant's own. */
  nodeId: string;
  document: ExecApprovalsDocument;
  hash: string;
}

/** A tenant's documents: its own and those of its nodes, or of the nodes named alone. */
export function selectExecDocuments(
  executor: Executor,
  tenantId: string,
  nodeIds?: readonly string[],
): Promise<ExecDocument[]> {
  const isNamed = nodeIds && inArray(execApprovals.nodeId, [TENANT_DOCUMENT, ...nodeIds]);
  return executor
    .select({ nodeId: execApprovals.nodeId, document: execApprovals.document, hash: execApprovals.hash })
    .from(execApprovals)
    .where(and(eq(execApprovals.tenantId, tenantId), isNamed));
}

/** What documents say of an agent whose call is made in a workspace: the node's is the one of that name. */
export function execRulesOf(
  documents: readonly ExecDocument[],
  agent: string,
  workspace: string | null,
): AgentExecRules {
  const rulesOf = (nodeId: string) => {
    const found = documents.find((one) => one.nodeId === nodeId);
    return found === undefined ? null : resolveExecRules(found.document, agent);
  };
  return { tenant: rulesOf(TENANT_DOCUMENT), node: workspace === null ? null : rulesOf(workspace) };
}

/** What the documents in force say of an agent, within a transaction. */
export async function selectExecRules(
  executor: Executor,
  tenantId: string,
  agent: string,
  workspace: string | null,
): Promise<AgentExecRules> {
  const documents = await selectExecDocuments(executor, tenantId, workspace === null ? [] : [workspace]);
  return execRulesOf(documents, agent, workspace);
}
