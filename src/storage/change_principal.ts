import { and, eq, or, sql } from 'drizzle-orm';
import type { Writer } from '../core/agent_ports.ts';
import { subjectsOf } from '../core/asker_ports.ts';
import { unavailable } from '../core/common_faults.ts';
import type { Database, Executor } from './database.ts';
import { lockKeys } from './operator_keys.ts';
import { keys } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { assertKeyStands } from './standing.ts';
import { inTransaction } from './transaction.ts';

/** How often a change starts anew because the principal got another key while its keys were taken. */
const TRIES = 3;

/** A change of a principal's standing, in the order in which rows are taken. */
export interface PrincipalChange<T> {
  /** Writes the principal's row, and thereby takes it; its keys are held. */
  writePrincipal(tx: Executor): Promise<T>;
  /** Settles what rests on the keys, which have the principal's standing by now; the ids of approvals that changed. */
  settle?(tx: Executor, keyIds: string[]): Promise<string[]>;
}

class KeysAdded extends Error {}

async function readKeyIds(tx: Executor, tenantId: string, principal: string): Promise<string[]> {
  const rows = await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(and(eq(keys.tenantId, tenantId), eq(keys.principal, principal)));
  return rows.map((row) => row.keyId);
}

/** Copies the principal's standing to its keys: those are the rows that writing statements judge. */
async function copyStanding(tx: Executor, tenantId: string, principal: string): Promise<void> {
  const own = sql`from principals p where p.tenant_id = ${tenantId} and p.principal = ${principal}`;
  await tx
    .update(keys)
    .set({
      disabledAt: sql`(select p.disabled_at ${own})` as unknown as Date,
      frozenAt: sql`(select p.frozen_at ${own})` as unknown as Date,
    })
    .where(and(eq(keys.tenantId, tenantId), eq(keys.principal, principal)));
}

/**
 * Changes a principal with all its keys in one transaction, at the word of a writer whose key stands. Keys are taken
 * before the principal; a new key is written under the principal's row and copies its standing, so that none made
 * meanwhile escapes: it is there once the row is had, and the change starts anew with it.
 */
export function createPrincipalChange(database: Database, publisher: SignalPublisher) {
  return async <T>(writer: Writer, principal: string, change: PrincipalChange<T>): Promise<T> => {
    const { tenantId } = writer;
    const which = or(eq(keys.principal, principal), eq(keys.keyId, writer.keyId));
    const attempt = () =>
      inTransaction(database, async (tx) => {
        const locked = new Set((await lockKeys(tx, tenantId, which)).map(({ keyId }) => keyId));
        await assertKeyStands(tx, writer.keyId);
        const written = await change.writePrincipal(tx);
        const keyIds = await readKeyIds(tx, tenantId, principal);
        if (keyIds.some((keyId) => !locked.has(keyId))) throw new KeysAdded();
        await copyStanding(tx, tenantId, principal);
        const changed = (await change.settle?.(tx, keyIds)) ?? [];
        return { written, changed: [...keyIds, ...subjectsOf(tenantId, changed)] };
      });
    for (let tries = 1; tries <= TRIES; tries += 1) {
      try {
        const { written, changed } = await attempt();
        publisher.publish(changed);
        return written;
      } catch (error) {
        if (!(error instanceof KeysAdded)) throw error;
      }
    }
    throw unavailable(new Error('the principal got another key at each try'));
  };
}
