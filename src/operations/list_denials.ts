import type { DenialQuery, DenialRecord } from '../core/agent_ports.ts';
import type { Caller } from '../core/caller.ts';
import type { Deps } from './deps.ts';

/** A page of the rejections of the caller's tenant that hold, newest first. */
export function listDenials(
  deps: Deps,
  caller: Caller,
  query: Omit<DenialQuery, 'denialSeconds'>,
): Promise<{ items: DenialRecord[]; next: string | null }> {
  const { denialSeconds } = deps.settings;
  return deps.denials.list(caller.tenantId, { ...query, denialSeconds });
}
