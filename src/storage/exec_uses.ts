import { and, eq, sql } from 'drizzle-orm';
import type { AllowlistEntry, EntryUsage } from '../core/exec_approvals.ts';
import { toUsageText } from '../core/exec_approvals_usage.ts';
import type { EntryUse } from '../core/exec_ports.ts';
import type { Executor } from './database.ts';
import { TENANT_DOCUMENT } from './exec_documents.ts';
import { execEntryUses } from './exec_schema.ts';

interface UseRow {
  node_id: string;
  entry_id: string;
  /** Null for the clock's now. */
  used_at: string | null;
  command: string;
  resolved_path: string;
}

function toTexts(command: string, resolvedPath: string) {
  return { command: toUsageText(command), resolved_path: toUsageText(resolvedPath) };
}

/** Rows as a set, in the order of the primary key: who writes several takes them in one order, so no deadlock. */
function toRecordset(rows: readonly UseRow[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
    as u(node_id text, entry_id text, used_at timestamptz, command text, resolved_path text)
    order by u.node_id, u.entry_id`;
}

/**
 * Records that entries let a command run, the command that the last one is: one statement. `workspace` is the node
 * whose document the node's entries are of.
 */
export async function recordUses(
  tx: Executor,
  tenantId: string,
  workspace: string | null,
  uses: readonly EntryUse[],
): Promise<void> {
  const rows = new Map<string, UseRow>();
  for (const { document, entryId, command, resolvedPath } of uses) {
    const nodeId = document === 'tenant' ? TENANT_DOCUMENT : workspace;
    if (nodeId === null) continue;
    const row = { node_id: nodeId, entry_id: entryId, used_at: null, ...toTexts(command, resolvedPath) };
    rows.set(JSON.stringify([nodeId, entryId]), row);
  }
  if (rows.size === 0) return;
  await tx.execute(sql`
    insert into exec_entry_uses (tenant_id, node_id, entry_id, used_at, command, resolved_path)
    select ${tenantId}, u.node_id, u.entry_id, clock_timestamp(), u.command, u.resolved_path
    from ${toRecordset([...rows.values()])}
    on conflict (tenant_id, node_id, entry_id) do update
      set used_at = excluded.used_at, command = excluded.command, resolved_path = excluded.resolved_path`);
}

/** Writes what a document brings of the use of entries that nothing is known of yet. */
export async function addNewUses(
  tx: Executor,
  tenantId: string,
  nodeId: string,
  entries: readonly (AllowlistEntry & EntryUsage)[],
): Promise<void> {
  const rows = entries.flatMap(({ id, last_used_at, last_used_command, last_resolved_path }) => {
    if (last_used_at === undefined) return [];
    const text = toTexts(last_used_command ?? '', last_resolved_path ?? '');
    return [{ node_id: nodeId, entry_id: id, used_at: last_used_at, ...text }];
  });
  if (rows.length === 0) return;
  await tx.execute(sql`
    insert into exec_entry_uses (tenant_id, node_id, entry_id, used_at, command, resolved_path)
    select ${tenantId}, u.node_id, u.entry_id, u.used_at, u.command, u.resolved_path
    from ${toRecordset(rows)}
    on conflict (tenant_id, node_id, entry_id) do nothing`);
}

/** Forgets the use of entries that a document no longer has. */
export async function dropOtherUses(
  tx: Executor,
  tenantId: string,
  nodeId: string,
  entryIds: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    delete from exec_entry_uses u where u.tenant_id = ${tenantId} and u.node_id = ${nodeId}
      and not exists (select from jsonb_array_elements_text(${JSON.stringify(entryIds)}::jsonb) kept
        where kept = u.entry_id)`);
}

/** What became of the entries of a document, by their ids. */
export async function selectUsage(
  executor: Executor,
  tenantId: string,
  nodeId: string,
): Promise<Map<string, EntryUsage>> {
  const rows = await executor
    .select()
    .from(execEntryUses)
    .where(and(eq(execEntryUses.tenantId, tenantId), eq(execEntryUses.nodeId, nodeId)));
  return new Map(
    rows.map(({ entryId, usedAt, command, resolvedPath }) => [
      entryId,
      {
        last_used_at: usedAt.toISOString(),
        ...(command !== '' && { last_used_command: command }),
        ...(resolvedPath !== '' && { last_resolved_path: resolvedPath }),
      },
    ]),
  );
}
