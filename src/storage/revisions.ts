import { and, eq, getTableColumns, ne, sql } from 'drizzle-orm';
import { unavailable } from '../core/common_faults.ts';
import type { BaseRules, Rules } from '../core/rules.ts';
import {
  type ActivatedRevision,
  type Activator,
  type ActiveRules,
  type NewRevision,
  type RevisionRecord,
  type RevisionStore,
  RULES_SUBJECT,
  type TenantPointer,
} from '../core/rules_ports.ts';
import { findBase, holdBase, setBase, wasBase } from './base_rules.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { readPastCalls } from './past_calls.ts';
import { activations, baseRules, revisions } from './rules_schema.ts';
import { tenants } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

function toRules(row: typeof revisions.$inferSelect, base: BaseRules): Rules {
  return { base, policies: row.policies, tools: row.tools, permissions: row.permissions };
}

/** The tenant's rules in force, by one statement: pointer, revision and base belong together. */
async function readActive({ db }: Database, tenantId: string): Promise<ActiveRules> {
  const [found] = await guarded(() =>
    db
      .select({
        revision: getTableColumns(revisions),
        base: baseRules.rules,
        activatedAt: tenants.activatedAt,
        activatedBy: tenants.activatedBy,
      })
      .from(tenants)
      .innerJoin(
        revisions,
        and(eq(revisions.tenantId, tenants.tenantId), eq(revisions.revision, tenants.activeRevision)),
      )
      .innerJoin(baseRules, eq(baseRules.digest, revisions.baseDigest))
      .where(eq(tenants.tenantId, tenantId)),
  );
  if (found === undefined) throw unavailable(new Error('the active revision is not stored'));
  return {
    revision: found.revision.revision,
    baseDigest: found.revision.baseDigest,
    rules: toRules(found.revision, found.base),
    activatedAt: found.activatedAt,
    activatedBy: found.activatedBy,
  };
}

async function findRules({ db }: Database, tenantId: string, revision: string): Promise<Rules | undefined> {
  const [found] = await guarded(() =>
    db
      .select({ row: getTableColumns(revisions), base: baseRules.rules })
      .from(revisions)
      .innerJoin(baseRules, eq(baseRules.digest, revisions.baseDigest))
      .where(and(eq(revisions.tenantId, tenantId), eq(revisions.revision, revision))),
  );
  return found && toRules(found.row, found.base);
}

interface HistoryRow {
  revision: string;
  note: string | null;
  created_by: string | null;
  created_at: string;
  activated_at: string | null;
  activated_by: string | null;
  is_active: boolean;
}

/** All revisions of a tenant, newest first. */
async function list({ sql: statement }: Database, tenantId: string): Promise<RevisionRecord[]> {
  const rows = await guarded(
    async () => statement<HistoryRow[]>`
      select r.revision, r.note, r.created_by, r.created_at, a.activated_at, a.activated_by,
             r.revision = t.active_revision as is_active
      from revisions r join tenants t on t.tenant_id = r.tenant_id
      left join lateral (
        select l.activated_at, l.activated_by from activations l
        where l.tenant_id = r.tenant_id and l.revision = r.revision
        order by l.activated_at desc limit 1) a on true
      where r.tenant_id = ${tenantId}
      order by r.created_at desc, a.activated_at desc nulls last, r.revision`,
  );
  return rows.map((row) => ({
    revision: row.revision,
    note: row.note,
    createdBy: row.created_by,
    createdAt: new Date(row.created_at),
    activatedAt: row.activated_at === null ? null : new Date(row.activated_at),
    activatedBy: row.activated_by,
    isActive: row.is_active,
  }));
}

/**
 * Stores a revision; one that is there already stays as it is, but for which part of its rules is the base: the same
 * rules can come of another base, for instance when a policy of the tenant's own moves into it. Whether it is new.
 */
export async function insertRevision(tx: Executor, next: NewRevision, by: Activator): Promise<boolean> {
  const parts = {
    baseDigest: next.baseDigest,
    policies: next.rules.policies,
    tools: next.rules.tools,
    permissions: next.rules.permissions,
  };
  const made = await tx
    .insert(revisions)
    .values({
      tenantId: next.tenantId,
      revision: next.revision,
      ...parts,
      note: next.note,
      createdBy: by.principal,
    })
    .onConflictDoNothing()
    .returning({ revision: revisions.revision });
  if (made.length > 0) return true;
  await tx
    .update(revisions)
    .set(parts)
    .where(
      and(
        eq(revisions.tenantId, next.tenantId),
        eq(revisions.revision, next.revision),
        ne(revisions.baseDigest, next.baseDigest),
      ),
    );
  return false;
}

/** Enters an activation in the tenant's history. */
export async function insertActivation(
  tx: Executor,
  next: NewRevision,
  activation: { replaced: string | null; at: Date; by: string | null },
): Promise<void> {
  await tx.insert(activations).values({
    tenantId: next.tenantId,
    activationId: sql`gen_random_uuid()` as unknown as string,
    revision: next.revision,
    replaced: activation.replaced,
    activatedBy: activation.by,
    activatedAt: activation.at,
  });
}

/**
 * Moves the tenant's pointer, on condition that it is where the activator saw it. Which revision decides is a matter
 * of this one row: statements that write decisions and approvals compare with it.
 */
async function movePointer(
  tx: Executor,
  next: NewRevision,
  from: string,
  by: Activator,
): Promise<ActivatedRevision | undefined> {
  const isSame = next.revision === from;
  const [moved] = await tx
    .update(tenants)
    .set({
      activeRevision: next.revision,
      activatedAt: isSame ? sql`${tenants.activatedAt}` : sql`clock_timestamp()`,
      activatedBy: isSame ? sql`${tenants.activatedBy}` : by.principal,
    })
    .where(and(eq(tenants.tenantId, next.tenantId), eq(tenants.activeRevision, from)))
    .returning({ activatedAt: tenants.activatedAt, activatedBy: tenants.activatedBy });
  return moved;
}

function createActivate(database: Database, publisher: SignalPublisher): RevisionStore['activate'] {
  return async (next, seen, by) => {
    const from = seen.revision;
    const outcome = await inTransaction(database, async (tx) => {
      if (by.keyId !== null) await lockStandingKey(tx, by.keyId);
      if (!(await holdBase(tx, seen.baseInForce))) return 'moved' as const;
      const moved = await movePointer(tx, next, from, by);
      if (moved === undefined) return 'moved' as const;
      const isNew = await insertRevision(tx, next, by);
      if (isNew || next.revision !== from) {
        const replaced = next.revision === from ? null : from;
        await insertActivation(tx, next, { replaced, at: moved.activatedAt, by: moved.activatedBy });
      }
      return moved;
    });
    if (outcome !== 'moved') publisher.publish([RULES_SUBJECT]);
    return outcome;
  };
}

/** Every tenant with the rules it decides by; the base digest is null where the revision is not stored. One statement. */
async function listTenants({ sql: statement }: Database): Promise<TenantPointer[]> {
  const rows = await guarded(
    async () => statement<
      { tenant_id: string; active_revision: string; base_digest: string | null; in_force: string | null }[]
    >`
      select t.tenant_id, t.active_revision, r.base_digest,
        (select b.digest from base_rules b order by b.activated_at desc, b.digest limit 1) as in_force
      from tenants t
      left join revisions r on r.tenant_id = t.tenant_id and r.revision = t.active_revision
      order by t.tenant_id`,
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    activeRevision: row.active_revision,
    baseDigest: row.base_digest,
    baseInForce: row.in_force,
  }));
}

/** Rules over one database: immutable rows, and one pointer a tenant that says which of them decides. */
export function createRevisionStore(database: Database, publisher: SignalPublisher): RevisionStore {
  return {
    readActive: (tenantId) => readActive(database, tenantId),
    findRules: (tenantId, revision) => findRules(database, tenantId, revision),
    list: (tenantId) => list(database, tenantId),
    activate: createActivate(database, publisher),
    readPastCalls: (...args) => readPastCalls(database, ...args),
    findBase: () => findBase(database),
    wasBase: (digest) => wasBase(database, digest),
    setBase: (digest, rules) => setBase(database, digest, rules),
    listTenants: () => listTenants(database),
  };
}
