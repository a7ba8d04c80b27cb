import { and, eq, sql } from 'drizzle-orm';
import type { Tier } from '../core/action.ts';
import type { PrincipalInput, PrincipalSettings, PrincipalStore, Writer } from '../core/agent_ports.ts';
import { Fault } from '../core/fault.ts';
import { createListApprovers } from './approvers.ts';
import { createPrincipalChange, type PrincipalChange } from './change_principal.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { createFreeze } from './freeze.ts';
import { assertOperatorRemains } from './operator_keys.ts';
import { principals, tenants } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';
import { settleApprovals } from './void_approvals.ts';

/** Members that no two principals of a tenant share, by the index that says so. */
const UNIQUE_MEMBERS: Record<string, string> = {
  principals_slack_user: '/slack_user',
  principals_oidc_subject: '/oidc_subject',
};

function toSettings(row: typeof principals.$inferSelect): PrincipalSettings {
  return {
    groups: row.groups,
    owner: row.owner,
    riskTier: row.riskTier,
    slackUser: row.slackUser,
    oidcSubject: row.oidcSubject,
    disabled: row.disabledAt !== null,
  };
}

function isPrincipal(tenantId: string, principal: string) {
  return and(eq(principals.tenantId, tenantId), eq(principals.principal, principal));
}

async function findPrincipal(
  { db }: Database,
  tenantId: string,
  principal: string,
): Promise<PrincipalSettings | undefined> {
  const [row] = await db.select().from(principals).where(isPrincipal(tenantId, principal));
  return row && toSettings(row);
}

/** The constraint that PostgreSQL says was broken, behind drizzle's wrapping. */
function brokenConstraint(error: unknown): string | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('constraint_name' in current && typeof current.constraint_name === 'string') {
      return current.constraint_name;
    }
  }
  return undefined;
}

/** Makes or replaces the row. @throws Fault `invalid_request` for a Slack user or OIDC subject that is another's. */
async function writeRow(
  tx: Executor,
  tenantId: string,
  principal: string,
  settings: PrincipalInput,
): Promise<PrincipalSettings> {
  const { disabled, groups, ...rest } = settings;
  const columns = { ...rest, groups: [...new Set(groups)].sort() };
  const disabledAt = (disabled ? sql`clock_timestamp()` : null) as Date | null;
  const stillDisabledAt = disabled ? sql`coalesce(${principals.disabledAt}, clock_timestamp())` : null;
  try {
    const [made] = await tx
      .insert(principals)
      .values({ tenantId, principal, ...columns, disabledAt })
      .onConflictDoNothing({ target: [principals.tenantId, principals.principal] })
      .returning();
    // Not `on conflict do update`: that takes the row as if its unique columns changed, and whoever refers to it waits.
    const [row] = made
      ? [made]
      : await tx
          .update(principals)
          .set({ ...columns, disabledAt: stillDisabledAt as unknown as Date | null })
          .where(and(eq(principals.tenantId, tenantId), eq(principals.principal, principal)))
          .returning();
    if (row === undefined) throw new Error('a principal just written is not there');
    return toSettings(row);
  } catch (error) {
    const pointer = UNIQUE_MEMBERS[brokenConstraint(error) ?? ''];
    if (pointer === undefined) throw error;
    throw new Fault('invalid_request', 'each belongs to one principal. Take it from the other one first', {
      issues: [{ pointer, reason: 'is that of another principal' }],
    });
  }
}

function putting(
  writer: Writer,
  principal: string,
  settings: PrincipalInput,
): PrincipalChange<PrincipalSettings> {
  const { tenantId } = writer;
  return {
    writePrincipal: async (tx) => {
      if (settings.disabled) await assertOperatorRemains(tx, tenantId, (key) => key.principal === principal);
      return writeRow(tx, tenantId, principal, settings);
    },
    settle: async (tx, keyIds) => {
      if (!settings.disabled) return [];
      return settleApprovals(tx, tenantId, {
        votedWith: keyIds,
        askedBy: { agent: principal, voidReason: 'key_revoked', by: writer.principal },
      });
    },
  };
}

async function readTier({ db }: Database, tenantId: string): Promise<Tier> {
  const [tenant] = await db
    .select({ tier: tenants.tier })
    .from(tenants)
    .where(eq(tenants.tenantId, tenantId));
  if (tenant === undefined) throw new Error('the credential names a tenant without a row');
  return tenant.tier;
}

function putTier(database: Database, { tenantId, keyId }: Writer, tier: Tier): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    await tx.update(tenants).set({ tier }).where(eq(tenants.tenantId, tenantId));
  });
}

/** The principals in the database; see the port. */
export function createPrincipalStore(database: Database, publisher: SignalPublisher): PrincipalStore {
  const changePrincipal = createPrincipalChange(database, publisher);
  return {
    find: (tenantId, principal) => guarded(() => findPrincipal(database, tenantId, principal)),
    put: (writer, principal, settings) =>
      changePrincipal(writer, principal, putting(writer, principal, settings)),
    ...createFreeze(database, publisher),
    readTier: (tenantId) => guarded(() => readTier(database, tenantId)),
    putTier: (writer, tier) => putTier(database, writer, tier),
    listApprovers: createListApprovers(database),
    listGroups: (tenantId) =>
      guarded(async () => {
        const rows = await database.sql<{ name: string }[]>`
          select distinct unnest(p.groups) as name from principals p
          where p.tenant_id = ${tenantId} and p.disabled_at is null`;
        return rows.map(({ name }) => name);
      }),
  };
}
