import { and, desc, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { VoteProof } from '../core/vote_statement.ts';
import { type Challenge, challengeSpent, type NewChallenge } from '../core/webauthn_ports.ts';
import type { Database, Executor } from './database.ts';
import { bumpCounter } from './passkey_counter.ts';
import { webauthnChallenges } from './people_schema.ts';

const clock = sql`clock_timestamp()`;

/** A principal's challenge by its bytes, while it is in time. */
function isInTime(tenantId: string, principal: string, challenge: string) {
  return and(
    eq(webauthnChallenges.tenantId, tenantId),
    eq(webauthnChallenges.challenge, challenge),
    eq(webauthnChallenges.principal, principal),
    gt(webauthnChallenges.expiresAt, clock),
  );
}

/** What is kept for one principal at a time, used or not. */
const KEPT_MAX = 32;

/** Makes room for one more challenge of a principal: who asks for ever more loses the oldest. */
async function makeRoom({ db }: Database, { tenantId, principal }: NewChallenge): Promise<void> {
  const isOwn = and(eq(webauthnChallenges.tenantId, tenantId), eq(webauthnChallenges.principal, principal));
  const surplus = db
    .select({ challenge: webauthnChallenges.challenge })
    .from(webauthnChallenges)
    .where(isOwn)
    .orderBy(desc(webauthnChallenges.createdAt), desc(webauthnChallenges.challenge))
    .offset(KEPT_MAX - 1);
  await db.delete(webauthnChallenges).where(and(isOwn, inArray(webauthnChallenges.challenge, surplus)));
}

/** Keeps a challenge, and forgets the oldest of too many; until when. */
export async function openChallenge(database: Database, challenge: NewChallenge): Promise<Date> {
  const { db } = database;
  const { lifeSeconds, notAfter, ...columns } = challenge;
  await makeRoom(database, challenge);
  const until = notAfter?.toISOString() ?? null;
  const expiresAt = sql`least(clock_timestamp() + make_interval(secs => ${lifeSeconds}), ${until}::timestamptz)`;
  const [opened] = await db
    .insert(webauthnChallenges)
    .values({ ...columns, expiresAt: expiresAt as unknown as Date })
    .returning({ expiresAt: webauthnChallenges.expiresAt });
  if (opened === undefined) throw new Error('a challenge just written is not there');
  return opened.expiresAt;
}

/** A principal's challenge that is in time, whether used or not. */
export async function findChallenge(
  { db }: Database,
  tenantId: string,
  principal: string,
  challenge: string,
): Promise<Challenge | undefined> {
  const [row] = await db
    .select()
    .from(webauthnChallenges)
    .where(isInTime(tenantId, principal, challenge));
  if (row === undefined) return undefined;
  const { purpose, approvalId, statement, codeHash } = row;
  return { challenge, purpose, approvalId, statement, codeHash };
}

/**
 * Spends a challenge, in the transaction of what its answer does: of two answers one has it.
 * @throws Fault `signature_invalid` when it is used or out of time.
 */
export async function spendChallenge(
  tx: Executor,
  { tenantId, principal }: { tenantId: string; principal: string },
  challenge: string,
  purpose: Challenge['purpose'],
): Promise<void> {
  const spent = await tx
    .update(webauthnChallenges)
    .set({ usedAt: clock as unknown as Date })
    .where(
      and(
        isInTime(tenantId, principal, challenge),
        eq(webauthnChallenges.purpose, purpose),
        isNull(webauthnChallenges.usedAt),
      ),
    )
    .returning({ challenge: webauthnChallenges.challenge });
  if (spent.length === 0) throw challengeSpent();
}

/**
 * Spends what a signed vote rests on: its challenge, and one use of the passkey.
 * @throws Fault `signature_invalid` when either does not stand at the write.
 */
export async function spendProof(
  tx: Executor,
  actor: { tenantId: string; principal: string },
  proof: VoteProof,
): Promise<void> {
  await spendChallenge(tx, actor, proof.challenge, 'vote');
  await bumpCounter(tx, actor, proof.signature.credential_id, proof.counter);
}
