import type { Tier } from '../core/action.ts';
import type { SessionRecord } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal, parsePathSession } from './path_names.ts';

/** Sets the tier of a session; null follows the tenant's. @throws Fault `not_found`. */
export async function putSession(
  deps: Deps,
  caller: Caller,
  agent: string,
  sessionId: string,
  tier: Tier | null,
): Promise<SessionRecord> {
  return deps.sessions.putTier(caller, parsePathPrincipal(agent), parsePathSession(sessionId), tier);
}
