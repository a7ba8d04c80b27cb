import type { PrincipalInput, PrincipalSettings } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal } from './path_names.ts';

/**
 * Makes a principal of the caller's tenant, or replaces all that is set of it. A disabled one has no standing, and
 * neither have the votes it cast and the approvals it asked for.
 * @throws Fault `not_found` for what can be no principal; `invalid_request`, `last_operator_key`.
 */
export async function putPrincipal(
  deps: Deps,
  caller: Caller,
  id: string,
  settings: PrincipalInput,
): Promise<{ principal: string; settings: PrincipalSettings }> {
  const principal = parsePathPrincipal(id);
  return { principal, settings: await deps.principals.put(caller, principal, settings) };
}
