import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal } from './path_names.ts';
import { assertMayResume } from './permit_resume.ts';

/**
 * Lifts the pause of an agent and counts its rejections anew; its sessions' pauses and each single denial hold on.
 * @throws Fault `not_found`, or with policy's own code when the caller may not.
 */
export async function resumeAgent(deps: Deps, caller: Caller, agent: string): Promise<{ agent: string }> {
  const principal = parsePathPrincipal(agent);
  await assertMayResume(deps, caller, principal, null);
  await deps.sessions.resumeAgent(caller, principal);
  return { agent: principal };
}
