import type { Caller } from '../../core/caller.ts';
import type { ToolPermission } from '../../core/rules.ts';
import type { Deps } from '../deps.ts';

/** The tenant's explicit permissions by pattern, with the revision they are of. */
export interface ToolPermissions {
  items: ToolPermission[];
  revision: string;
}

/** @throws Fault `unavailable`. */
export async function getToolPermissions(deps: Deps, caller: Caller): Promise<ToolPermissions> {
  const { rules, revision } = await deps.revisions.readActive(caller.tenantId);
  return { items: rules.permissions, revision };
}
