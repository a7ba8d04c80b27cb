import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import type { Deps } from './deps.ts';

/**
 * Asks policy whether the caller may clear the pause of an agent, or of one of its sessions.
 * @throws Fault `not_found` for an agent that is no principal, else with policy's own code.
 */
export async function assertMayResume(
  deps: Deps,
  caller: Caller,
  agent: string,
  sessionId: string | null,
): Promise<void> {
  const { tenantId, principal, groups, roles, tenant } = caller;
  const owner = await deps.sessions.readOwner(tenantId, agent);
  const policy = await deps.policy.load(tenantId, tenant.activeRevision);
  const judged = policy.judgeResume({
    approver: { principal, groups, roles },
    agent: { principal: agent, owner },
    sessionId,
  });
  if (judged.kind === 'refused') throw new Fault(judged.code, judged.reason);
}
