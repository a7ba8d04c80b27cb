import type { PrincipalSettings } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import { notFound } from '../core/common_faults.ts';
import type { Deps } from './deps.ts';
import { parsePathPrincipal } from './path_names.ts';

/** A principal of the caller's tenant. @throws Fault `not_found`. */
export async function getPrincipal(
  deps: Deps,
  caller: Caller,
  id: string,
): Promise<{ principal: string; settings: PrincipalSettings }> {
  const principal = parsePathPrincipal(id);
  const settings = await deps.principals.find(caller.tenantId, principal);
  if (settings === undefined) throw notFound();
  return { principal, settings };
}
