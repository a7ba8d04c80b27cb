import type { SessionRecord } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal, parsePathSession } from './path_names.ts';
import { assertMayResume } from './permit_resume.ts';

/**
 * Lifts the pause of a session and counts its rejections anew; each single denial holds on.
 * @throws Fault `not_found`, or with policy's own code when the caller may not.
 */
export async function resumeSession(
  deps: Deps,
  caller: Caller,
  agent: string,
  sessionId: string,
): Promise<SessionRecord> {
  const [principal, session] = [parsePathPrincipal(agent), parsePathSession(sessionId)];
  await assertMayResume(deps, caller, principal, session);
  return deps.sessions.resumeSession(caller, principal, session);
}
