import { createMasker } from '../../analysis/secrets/masker.ts';
import type { Writer } from '../../core/agent_ports.ts';
import type { Caller } from '../../core/caller.ts';
import type { EntryUsage, ShownExecApprovals } from '../../core/exec_approvals.ts';
import { type ExecApprovalsInput, prepareExecApprovals } from '../../core/exec_approvals_document.ts';
import { toUsageText } from '../../core/exec_approvals_usage.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../deps.ts';
import type { ExecApprovals } from './get_exec_approvals.ts';
import { assertNodeId } from './node_id.ts';

export interface PutExecApprovalsInput {
  document: ExecApprovalsInput;
  /** Undefined replaces whatever is there, null only nothing. */
  baseHash: string | null | undefined;
}

type WritingCaller = Writer & { tenant: Pick<Caller['tenant'], 'maskKey'> };

/**
 * Replaces exec approvals of the caller's tenant, or of one of its nodes. Calls decided from the commit on follow.
 * @throws Fault `invalid_request` with pointers into `document`; `base_hash_mismatch`, `unauthenticated`.
 */
export async function putExecApprovals(
  deps: Pick<Deps, 'execApprovals' | 'newUuid'>,
  caller: WritingCaller,
  nodeId: string | null,
  input: PutExecApprovalsInput,
): Promise<ExecApprovals> {
  assertNodeId(nodeId);
  const prepared = prepareExecApprovals(input.document, deps.newUuid);
  if (prepared.kind === 'refused') {
    const issues = prepared.issues.map(({ pointer, reason }) => ({ pointer: `/document${pointer}`, reason }));
    throw new Fault('invalid_request', 'the document cannot be stored. Correct what `errors` names', {
      issues,
    });
  }
  const document = showUsage(prepared.document, createMasker(caller.tenant.maskKey).maskText);
  const stored = await deps.execApprovals.put(caller, nodeId, document, input.baseHash);
  return { document: stored.document, hash: stored.hash };
}

/** A document whose texts on usage are such as the service itself would keep. */
function showUsage(document: ShownExecApprovals, mask: (text: string) => string): ShownExecApprovals {
  const toShown = <Entry extends EntryUsage>(entry: Entry): Entry => ({
    ...entry,
    ...(entry.last_used_command !== undefined && {
      last_used_command: toUsageText(mask(entry.last_used_command)),
    }),
    ...(entry.last_resolved_path !== undefined && {
      last_resolved_path: toUsageText(entry.last_resolved_path),
    }),
  });
  const agents = Object.entries(document.agents).map(([agent, { allowlist, ...settings }]) => [
    agent,
    { ...settings, ...(allowlist && { allowlist: allowlist.map(toShown) }) },
  ]);
  return { ...document, agents: Object.fromEntries(agents) };
}
