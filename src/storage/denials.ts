import { and, desc, eq, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import type { DenialQuery, DenialRecord, DenialStore, Writer } from '../core/agent_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { denials } from './agent_schema.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

function toRecord(row: typeof denials.$inferSelect): DenialRecord {
  return {
    denialId: row.denialId,
    agent: row.agent,
    sessionId: row.sessionId,
    resolved: { tool: row.resolvedTool, action: row.resolvedAction },
    actionHash: row.actionHash,
    approvalId: row.approvalId,
    deniedBy: row.deniedBy,
    reason: row.reason,
    createdAt: row.createdAt,
  };
}

/** True of a rejection young enough to hold in every session of its agent. */
function isRecent(denialSeconds: number): SQL {
  return sql`${denials.createdAt} > clock_timestamp() - make_interval(secs => ${denialSeconds}::int)`;
}

async function findDenial(
  { db }: Database,
  ...[tenantId, agent, digest, sessionId, denialSeconds]: Parameters<DenialStore['find']>
): Promise<DenialRecord | undefined> {
  const [row] = await db
    .select()
    .from(denials)
    .where(
      and(
        eq(denials.tenantId, tenantId),
        eq(denials.agent, agent),
        eq(denials.digest, digest),
        isNull(denials.liftedAt),
        or(sessionId === null ? undefined : eq(denials.sessionId, sessionId), isRecent(denialSeconds)),
      ),
    )
    .orderBy(desc(denials.createdAt), desc(denials.denialId))
    .limit(1);
  return row && toRecord(row);
}

async function listDenials(
  { db }: Database,
  tenantId: string,
  query: DenialQuery,
): Promise<{ items: DenialRecord[]; next: string | null }> {
  const rows = await db
    .select()
    .from(denials)
    .where(
      and(
        eq(denials.tenantId, tenantId),
        query.agent === null ? undefined : eq(denials.agent, query.agent),
        isNull(denials.liftedAt),
        or(isNotNull(denials.sessionId), isRecent(query.denialSeconds)),
        query.before === null ? undefined : lt(denials.denialId, query.before),
      ),
    )
    .orderBy(desc(denials.denialId))
    .limit(query.limit + 1);
  const items = rows.slice(0, query.limit).map(toRecord);
  return { items, next: rows.length <= query.limit ? null : (items.at(-1)?.denialId ?? null) };
}

function liftDenial(database: Database, writer: Writer, denialId: string): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    const lifted = await tx
      .update(denials)
      .set({ liftedAt: sql`clock_timestamp()` as unknown as Date, liftedBy: writer.principal })
      .where(
        and(eq(denials.tenantId, writer.tenantId), eq(denials.denialId, denialId), isNull(denials.liftedAt)),
      )
      .returning({ denialId: denials.denialId });
    if (lifted.length === 0) throw notFound();
  });
}

/** The denial ledger in the database; see the port. */
export function createDenialStore(database: Database): DenialStore {
  return {
    find: (...args) => guarded(() => findDenial(database, ...args)),
    list: (...args) => guarded(() => listDenials(database, ...args)),
    lift: (...args) => liftDenial(database, ...args),
  };
}
