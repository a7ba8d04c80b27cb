import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Writer } from '../core/agent_ports.ts';
import { subjectsOf } from '../core/asker_ports.ts';
import { resolveExecRules, type ShownExecApprovals } from '../core/exec_approvals.ts';
import { computeExecApprovalsHash, listEntries, withoutUsage } from '../core/exec_approvals_document.ts';
import type { ExecApprovalsStore, StoredExecApprovals } from '../core/exec_ports.ts';
import { Fault } from '../core/fault.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { execRulesOf, selectExecDocuments, TENANT_DOCUMENT } from './exec_documents.ts';
import { execApprovals } from './exec_schema.ts';
import { addNewUses, dropOtherUses, selectUsage } from './exec_uses.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';
import { voidCommands } from './void_approvals.ts';

const clock = sql`clock_timestamp()` as unknown as Date;

/** True of one document. */
function isDocument(tenantId: string, nodeId: string): SQL {
  return and(eq(execApprovals.tenantId, tenantId), eq(execApprovals.nodeId, nodeId)) as SQL;
}

/** A document with what became of its entries. */
async function findDocument(
  executor: Executor,
  tenantId: string,
  nodeId: string,
): Promise<StoredExecApprovals | undefined> {
  const [row] = await executor.select().from(execApprovals).where(isDocument(tenantId, nodeId));
  if (row === undefined) return undefined;
  const usage = await selectUsage(executor, tenantId, nodeId);
  const agents = Object.entries(row.document.agents).map(([agent, { allowlist, ...settings }]) => [
    agent,
    {
      ...settings,
      ...(allowlist && { allowlist: allowlist.map((entry) => ({ ...entry, ...usage.get(entry.id) })) }),
    },
  ]);
  const document = { ...row.document, agents: Object.fromEntries(agents) };
  return { document, hash: row.hash, updatedAt: row.updatedAt };
}

/**
 * Writes a document where `baseHash` allows it, by the writing statement's own condition; false when it does not. An
 * update comes first, since `on conflict do update` makes whoever refers to the row wait.
 */
async function writeDocument(
  tx: Executor,
  row: Omit<typeof execApprovals.$inferInsert, 'updatedAt'>,
  baseHash: string | null | undefined,
): Promise<boolean> {
  const { tenantId, nodeId, ...columns } = row;
  const set = { ...columns, updatedAt: clock };
  if (baseHash !== null) {
    const isBase = baseHash === undefined ? undefined : eq(execApprovals.hash, baseHash);
    const updated = await tx
      .update(execApprovals)
      .set(set)
      .where(and(isDocument(tenantId, nodeId), isBase))
      .returning({ hash: execApprovals.hash });
    if (updated.length > 0 || baseHash !== undefined) return updated.length > 0;
  }
  const insert = tx.insert(execApprovals).values({ tenantId, nodeId, ...set });
  const target = [execApprovals.tenantId, execApprovals.nodeId];
  const inserted = await (baseHash === null
    ? insert.onConflictDoNothing({ target })
    : insert.onConflictDoUpdate({ target, set })
  ).returning({ hash: execApprovals.hash });
  return inserted.length > 0;
}

async function baseHashMismatch(tx: Executor, tenantId: string, nodeId: string): Promise<Fault> {
  const [present] = await tx
    .select({ hash: execApprovals.hash })
    .from(execApprovals)
    .where(isDocument(tenantId, nodeId));
  return new Fault(
    'base_hash_mismatch',
    'exec approvals are not those that `base_hash` names. Read them again, and send the hash they have now',
    { members: { hash: present?.hash ?? null } },
  );
}

/** Replaces a document; what it denies from now on and is open is void. Told to all who wait for it. */
async function putDocument(
  { database, publisher }: Where,
  { tenantId, principal, ...by }: Omit<Writer, 'keyId'> & { keyId: string | null },
  nodeId: string,
  shown: ShownExecApprovals,
  baseHash: string | null | undefined,
): Promise<StoredExecApprovals> {
  const { stored, voided } = await inTransaction(database, async (tx) => {
    if (by.keyId !== null) await lockStandingKey(tx, by.keyId);
    const document = withoutUsage(shown);
    const workspace = nodeId === TENANT_DOCUMENT ? null : nodeId;
    // Before the document's own row: whoever votes takes an approval first, then the document.
    const voided = await voidCommands(tx, tenantId, workspace, (agent) => {
      return resolveExecRules(document, agent).security === 'deny';
    });
    const row = { tenantId, nodeId, document, hash: computeExecApprovalsHash(shown), updatedBy: principal };
    if (!(await writeDocument(tx, row, baseHash))) throw await baseHashMismatch(tx, tenantId, nodeId);
    const entries = listEntries(shown).map(({ entry }) => entry);
    const ids = entries.map(({ id }) => id);
    await dropOtherUses(tx, tenantId, nodeId, ids);
    await addNewUses(tx, tenantId, nodeId, entries);
    const stored = await findDocument(tx, tenantId, nodeId);
    if (stored === undefined) throw new Error('a document just written is not there');
    return { stored, voided };
  });
  publisher.publish(subjectsOf(tenantId, voided));
  return stored;
}

/** A database, and who is told of what changes in it. */
interface Where {
  database: Database;
  publisher: SignalPublisher;
}

/** The exec approvals in the database; see the port. */
export function createExecApprovalsStore(database: Database, publisher: SignalPublisher): ExecApprovalsStore {
  return {
    readRules: async (tenantId, agent, workspace) => {
      const nodeIds = workspace === null ? [] : [workspace];
      const documents = await guarded(() => selectExecDocuments(database.db, tenantId, nodeIds));
      const hashOf = (nodeId: string) => documents.find((one) => one.nodeId === nodeId)?.hash ?? null;
      return {
        rules: execRulesOf(documents, agent, workspace),
        seen: {
          tenant: hashOf(TENANT_DOCUMENT),
          workspace,
          node: workspace === null ? null : hashOf(workspace),
        },
      };
    },
    find: (tenantId, nodeId) => guarded(() => findDocument(database.db, tenantId, nodeId ?? TENANT_DOCUMENT)),
    put: (writer, nodeId, document, baseHash) =>
      putDocument({ database, publisher }, writer, nodeId ?? TENANT_DOCUMENT, document, baseHash),
  };
}

/** The same for whoever has the database itself, and so needs no key. Who waits finds out when the wait ends. */
export function createLocalExecApprovalsStore(database: Database): ExecApprovalsStore {
  const publisher = { publish: () => undefined };
  return {
    ...createExecApprovalsStore(database, publisher),
    put: (writer, nodeId, document, baseHash) => {
      const local = { ...writer, keyId: null };
      return putDocument({ database, publisher }, local, nodeId ?? TENANT_DOCUMENT, document, baseHash);
    },
  };
}
