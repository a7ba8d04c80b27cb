import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal } from './path_names.ts';

/** Gives a frozen agent its standing back; what was voided stays void. @throws Fault `not_found`. */
export async function unfreezeAgent(deps: Deps, caller: Caller, agent: string): Promise<void> {
  await deps.principals.unfreeze(caller, parsePathPrincipal(agent));
}
