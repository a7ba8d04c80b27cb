import type { Pauses } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import { Fault } from '../core/fault.ts';
import type { Deps } from './deps.ts';
import { assertMayResume } from './permit_resume.ts';

/** What is paused in the caller's tenant, those that have held for longest first. */
export function listPaused(deps: Deps, caller: Caller): Promise<Pauses> {
  return deps.sessions.listPaused(caller.tenantId);
}

/**
 * Why the caller cannot resume an agent, or one of its sessions; null if they can. Nothing is promised: resuming
 * judges again.
 */
export async function findResumeObstacle(
  deps: Deps,
  caller: Caller,
  agent: string,
  sessionId: string | null,
): Promise<string | null> {
  if (!caller.roles.includes('operator'))
    return 'an operator resumes it; you are signed in without that role';
  try {
    await assertMayResume(deps, caller, agent, sessionId);
    return null;
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    return error.detail;
  }
}
