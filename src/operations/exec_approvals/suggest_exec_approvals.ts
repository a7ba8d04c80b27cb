import type { Caller } from '../../core/caller.ts';
import type { AllowlistEntry, EntryUsage } from '../../core/exec_approvals.ts';
import { listEntries } from '../../core/exec_approvals_document.ts';
import type { StoredExecApprovals } from '../../core/exec_ports.ts';
import { timeOfUuidV7 } from '../../core/ids.ts';
import type { Deps } from '../deps.ts';

/** Binaries that read their input and write their output, to start an allowlist from; where systems have them. */
const SAFE_BINARIES = ['jq', 'grep', 'cut', 'sort', 'uniq', 'head', 'tail', 'tr', 'wc'].map(
  (name) => `/usr/bin/${name}`,
);

const UNUSED_MS = 90 * 24 * 60 * 60 * 1000;

/** An entry that nothing was run by for a long time. */
export interface UnusedEntry {
  agent: string;
  entry: AllowlistEntry & EntryUsage;
  /** Since when: its last use, else when it was added or the document last replaced. */
  since: Date;
}

export interface ExecSuggestions {
  /** Patterns of safe binaries that the document does not have. */
  safeBinaries: string[];
  /** Entries unused for 90 days, the longest unused first. */
  unused: UnusedEntry[];
}

/** What an operator may want to add to the tenant's exec approvals, and to take out of them. Nothing is changed. */
export async function suggestExecApprovals(deps: Deps, caller: Caller): Promise<ExecSuggestions> {
  const stored = await deps.execApprovals.find(caller.tenantId, null);
  const entries = stored === undefined ? [] : listEntries(stored.document);
  const patterns = new Set(entries.map(({ entry }) => entry.pattern));
  const latest = deps.now().getTime() - UNUSED_MS;
  return {
    safeBinaries: SAFE_BINARIES.filter((pattern) => !patterns.has(pattern)),
    unused:
      stored === undefined
        ? []
        : entries
            .map((listed) => ({ ...listed, since: unusedSince(stored, listed.entry) }))
            .filter(({ since }) => since.getTime() <= latest)
            .sort((a, b) => a.since.getTime() - b.since.getTime()),
  };
}

/**
 * Of an entry that never let anything run, an id made by the service says when it was added. Of an id made elsewhere
 * it is known only that it stood in the document when that was last changed.
 */
function unusedSince(
  { updatedAt }: StoredExecApprovals,
  { id, last_used_at: lastUsedAt }: AllowlistEntry & EntryUsage,
): Date {
  if (lastUsedAt !== undefined) return new Date(lastUsedAt);
  return timeOfUuidV7(id) ?? updatedAt;
}
