import type { SessionRecord } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal, parsePathSession } from './path_names.ts';

/** A session of an agent of the caller's tenant. @throws Fault `not_found`. */
export async function getSession(
  deps: Deps,
  caller: Caller,
  agent: string,
  sessionId: string,
): Promise<SessionRecord> {
  return deps.sessions.get(caller.tenantId, parsePathPrincipal(agent), parsePathSession(sessionId));
}
