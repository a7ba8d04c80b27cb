import { and, eq, sql } from 'drizzle-orm';
import type { PrincipalStore, Writer } from '../core/agent_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { createPrincipalChange, type PrincipalChange } from './change_principal.ts';
import type { Database, Executor } from './database.ts';
import { assertOperatorRemains } from './operator_keys.ts';
import { principals } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { settleApprovals } from './void_approvals.ts';

const clock = sql`clock_timestamp()`;

async function writeFrozen(
  tx: Executor,
  { tenantId }: Writer,
  agent: string,
  frozen: boolean,
): Promise<void> {
  const frozenAt = (frozen ? sql`coalesce(${principals.frozenAt}, ${clock})` : null) as Date | null;
  const written = await tx
    .update(principals)
    .set({ frozenAt })
    .where(and(eq(principals.tenantId, tenantId), eq(principals.principal, agent)))
    .returning({ principal: principals.principal });
  if (written.length === 0) throw notFound();
}

function freezing(writer: Writer, agent: string): PrincipalChange<void> {
  const { tenantId } = writer;
  return {
    writePrincipal: async (tx) => {
      await assertOperatorRemains(tx, tenantId, (key) => key.principal === agent);
      await writeFrozen(tx, writer, agent, true);
    },
    settle: (tx) =>
      settleApprovals(tx, tenantId, {
        votedWith: [],
        askedBy: { agent, voidReason: 'agent_frozen', by: writer.principal },
      }),
  };
}

/**
 * Freezes agents and lifts it; see `PrincipalStore`. A frozen agent's standing is judged by every writing statement
 * on its key's row, so that it ends with the commit, on every replica.
 */
export function createFreeze(
  database: Database,
  publisher: SignalPublisher,
): Pick<PrincipalStore, 'freeze' | 'unfreeze'> {
  const changePrincipal = createPrincipalChange(database, publisher);
  return {
    freeze: (writer, agent) => changePrincipal(writer, agent, freezing(writer, agent)),
    unfreeze: (writer, agent) =>
      changePrincipal(writer, agent, { writePrincipal: (tx) => writeFrozen(tx, writer, agent, false) }),
  };
}
