import type { Caller } from '../../core/caller.ts';
import type { Deps } from '../deps.ts';
import { listToolEntries, type ToolEntry } from './tool_entries.ts';

/** Every operation registered for the caller's tenant, by name, as it holds in the active revision. */
export async function listTools(
  deps: Deps,
  caller: Caller,
): Promise<{ entries: ToolEntry[]; revision: string }> {
  const { rules, revision } = await deps.revisions.readActive(caller.tenantId);
  return { entries: listToolEntries(rules), revision };
}
