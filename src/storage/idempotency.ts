import { and, eq, sql } from 'drizzle-orm';
import { idempotencyInFlight, unavailable } from '../core/common_faults.ts';
import type { IdempotencyClaim, IdempotencyStore } from '../core/ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { idempotencyKeys } from './schema.ts';
import { isRevisionActive } from './standing.ts';

const LEASE = sql`clock_timestamp() + interval '60 seconds'`;
const LIFE = sql`clock_timestamp() + interval '24 hours'`;

function isRecord(claim: IdempotencyClaim) {
  return and(
    eq(idempotencyKeys.tenantId, claim.tenantId),
    eq(idempotencyKeys.principal, claim.principal),
    eq(idempotencyKeys.route, claim.route),
    eq(idempotencyKeys.key, claim.key),
  );
}

/** NO SILENT DRIFT: what is loaded here is what decides now; neither an old answer nor a new claim holds else. */
function isActive(claim: IdempotencyClaim) {
  return isRevisionActive(claim.tenantId, claim.policyRevision);
}

function isMine(claim: IdempotencyClaim) {
  return and(isRecord(claim), eq(idempotencyKeys.leaseId, claim.leaseId));
}

/**
 * Keeps the answer of a claim that is still ours, with the standing that it was given under; part of the caller's transaction.
 * @throws Fault `idempotency_in_flight` when another request took the claim over: nothing is written then.
 */
export async function storeAnswer(
  executor: Executor,
  claim: IdempotencyClaim,
  answer: string,
): Promise<void> {
  const kept = await executor
    .update(idempotencyKeys)
    .set({ answer, standing: claim.standing })
    .where(isMine(claim))
    .returning({ key: idempotencyKeys.key });
  if (kept.length === 0) throw idempotencyInFlight();
}

/** Takes a free, expired, abandoned or outlived key; one statement, so two claimants cannot both have it. */
async function takeClaim(executor: Executor, claim: IdempotencyClaim): Promise<boolean> {
  const taken = await executor
    .insert(idempotencyKeys)
    .values({ ...claim, leaseUntil: LEASE as unknown as Date, expiresAt: LIFE as unknown as Date })
    .onConflictDoUpdate({
      target: [
        idempotencyKeys.tenantId,
        idempotencyKeys.principal,
        idempotencyKeys.route,
        idempotencyKeys.key,
      ],
      set: {
        fingerprint: claim.fingerprint,
        standing: claim.standing,
        leaseId: claim.leaseId,
        leaseUntil: LEASE,
        answer: null,
        expiresAt: LIFE,
      },
      setWhere: sql`${isActive(claim)} and (${idempotencyKeys.expiresAt} <= clock_timestamp()
        or (${idempotencyKeys.fingerprint} = ${claim.fingerprint} and case when ${idempotencyKeys.answer} is null
          then ${idempotencyKeys.leaseUntil} <= clock_timestamp()
          else ${idempotencyKeys.standing} <> ${claim.standing} end))`,
    })
    .returning({ key: idempotencyKeys.key });
  return taken.length > 0;
}

/** The idempotency keys in the database; see the port. */
export function createIdempotencyStore(database: Database): IdempotencyStore {
  const { db } = database;
  return {
    claim: (claim) =>
      guarded(async () => {
        for (let attempt = 1; attempt <= 3; attempt += 1) {
          if (await takeClaim(db, claim)) return { kind: 'claimed' };
          const [found] = await db
            .select({ record: idempotencyKeys, isCurrent: sql<boolean>`${isActive(claim)}` })
            .from(idempotencyKeys)
            .where(isRecord(claim));
          // Released between the two statements: claim again.
          if (found === undefined) continue;
          const { record, isCurrent } = found;
          if (record.fingerprint !== claim.fingerprint) return { kind: 'reused' };
          if (!isCurrent) return { kind: 'revision_moved' };
          if (record.answer === null) return { kind: 'in_flight' };
          if (record.standing === claim.standing) return { kind: 'replay', answer: record.answer };
        }
        throw unavailable(new Error('the idempotency key was never at rest'));
      }),
    keep: (claim, answer) => guarded(() => storeAnswer(db, claim, answer)),
    release: (claim) =>
      guarded(async () => {
        await db.delete(idempotencyKeys).where(and(isMine(claim), sql`${idempotencyKeys.answer} is null`));
      }),
  };
}
