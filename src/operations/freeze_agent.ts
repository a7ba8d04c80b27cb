import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal } from './path_names.ts';

/**
 * Takes an agent's standing away at once, on every replica, and with it its open approvals and its grants.
 * @throws Fault `not_found`, `last_operator_key`.
 */
export async function freezeAgent(deps: Deps, caller: Caller, agent: string): Promise<void> {
  await deps.principals.freeze(caller, parsePathPrincipal(agent));
}
