import { desc, eq, sql } from 'drizzle-orm';
import type { BaseRules } from '../core/rules.ts';
import type { StoredBase } from '../core/rules_ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { baseRules } from './rules_schema.ts';
import { inTransaction } from './transaction.ts';

/** Any constant: who activates rules shares this advisory lock, who puts other base rules in force holds it alone. */
const BASE_LOCK = 7_226_333;

/**
 * Whether base rules of this digest are in force, and until the end of the transaction stay so: other base rules wait
 * for it. It is taken after the key, before the tenant's row.
 */
export async function holdBase(tx: Executor, digest: string): Promise<boolean> {
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${BASE_LOCK})`);
  const [inForce] = await tx
    .select({ digest: baseRules.digest })
    .from(baseRules)
    .orderBy(desc(baseRules.activatedAt), baseRules.digest)
    .limit(1);
  return inForce?.digest === digest;
}

/** The base rules in force: those that were activated last. */
export async function findBase({ db }: Database): Promise<StoredBase | undefined> {
  const [base] = await guarded(() =>
    db
      .select({ digest: baseRules.digest, rules: baseRules.rules })
      .from(baseRules)
      .orderBy(desc(baseRules.activatedAt), baseRules.digest)
      .limit(1),
  );
  return base;
}

/** Whether base rules of this digest were in force at any time. */
export async function wasBase({ db }: Database, digest: string): Promise<boolean> {
  const found = await guarded(() =>
    db.select({ digest: baseRules.digest }).from(baseRules).where(eq(baseRules.digest, digest)),
  );
  return found.length > 0;
}

/**
 * Stores base rules, if they are new, and puts them in force. Their row is never changed but for the time, which is
 * later than that of every activation under other base rules.
 */
export async function setBase(database: Database, digest: string, rules: BaseRules): Promise<void> {
  const now = sql`clock_timestamp()` as unknown as Date;
  await inTransaction(database, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${BASE_LOCK})`);
    await tx
      .insert(baseRules)
      .values({ digest, rules, activatedAt: now })
      .onConflictDoUpdate({ target: baseRules.digest, set: { activatedAt: now } });
  });
}
