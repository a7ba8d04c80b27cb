import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm';
import type { Writer } from '../core/agent_ports.ts';
import { notFound } from '../core/common_faults.ts';
import { Fault } from '../core/fault.ts';
import {
  type NewPasskey,
  type Passkey,
  type PasskeyStore,
  signatureInvalid,
  type Voucher,
} from '../core/webauthn_ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { bumpCounter } from './passkey_counter.ts';
import { enrolmentCodes, passkeys } from './people_schema.ts';
import { principals } from './schema.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';
import { findChallenge, openChallenge, spendChallenge } from './webauthn_challenges.ts';

/** Passkeys that one principal can have. */
const PASSKEYS_MAX = 32;

const clock = sql`clock_timestamp()`;
const now = clock as unknown as Date;

function ownPasskeys(tenantId: string, principal: string) {
  return and(eq(passkeys.tenantId, tenantId), eq(passkeys.principal, principal), isNull(passkeys.removedAt));
}

function toPasskey(row: typeof passkeys.$inferSelect): Passkey {
  const { tenantId: _, removedAt: __, ...passkey } = row;
  return passkey;
}

async function list(executor: Executor, tenantId: string, principal: string): Promise<Passkey[]> {
  const rows = await executor
    .select()
    .from(passkeys)
    .where(ownPasskeys(tenantId, principal))
    .orderBy(asc(passkeys.createdAt), asc(passkeys.credentialId));
  return rows.map(toPasskey);
}

function isUsableCode(tenantId: string, principal: string) {
  return and(
    eq(enrolmentCodes.tenantId, tenantId),
    eq(enrolmentCodes.principal, principal),
    isNull(enrolmentCodes.usedAt),
    gt(enrolmentCodes.expiresAt, clock),
  );
}

/** Takes the principal's row, so that two registrations of one principal follow each other. */
async function lockPrincipal(tx: Executor, tenantId: string, principal: string): Promise<void> {
  const [row] = await tx
    .select({ disabledAt: principals.disabledAt })
    .from(principals)
    .where(and(eq(principals.tenantId, tenantId), eq(principals.principal, principal)))
    .for('no key update');
  if (row === undefined || row.disabledAt !== null) throw notFound();
}

function issueCode(
  database: Database,
  writer: Writer,
  principal: string,
  codeHash: string,
  lifeSeconds: number,
): Promise<Date> {
  const { tenantId, principal: createdBy } = writer;
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, writer.keyId);
    await lockPrincipal(tx, tenantId, principal);
    await tx.update(enrolmentCodes).set({ usedAt: now }).where(isUsableCode(tenantId, principal));
    const expiresAt = sql`clock_timestamp() + make_interval(secs => ${lifeSeconds})` as unknown as Date;
    const [issued] = await tx
      .insert(enrolmentCodes)
      .values({ tenantId, codeHash, principal, createdBy, expiresAt })
      .returning({ expiresAt: enrolmentCodes.expiresAt });
    if (issued === undefined) throw new Error('a code just written is not there');
    return issued.expiresAt;
  });
}

async function isCodeGood(
  { db }: Database,
  tenantId: string,
  principal: string,
  codeHash: string,
): Promise<boolean> {
  const found = await db
    .select({ principal: enrolmentCodes.principal })
    .from(enrolmentCodes)
    .where(and(isUsableCode(tenantId, principal), eq(enrolmentCodes.codeHash, codeHash)));
  return found.length === 1;
}

/** Spends what vouches for a new passkey. @throws Fault `signature_invalid` when it does not stand at the write. */
async function spendVoucher(
  tx: Executor,
  writer: Writer,
  voucher: Voucher,
  older: readonly Passkey[],
): Promise<void> {
  if (voucher.kind === 'passkey') return bumpCounter(tx, writer, voucher.credentialId, voucher.counter);
  const { tenantId, principal } = writer;
  const spent = await tx
    .update(enrolmentCodes)
    .set({ usedAt: now })
    .where(and(isUsableCode(tenantId, principal), eq(enrolmentCodes.codeHash, voucher.codeHash)))
    .returning({ principal: enrolmentCodes.principal });
  if (older.length > 0 || spent.length === 0) {
    throw signatureInvalid(
      'the enrolment code was used before, is void or has expired. Ask an operator for a new one',
    );
  }
}

function tooManyPasskeys(): Fault {
  return new Fault('invalid_request', `you have ${PASSKEYS_MAX} passkeys, which is the most. Remove one`, {
    issues: [{ pointer: '/registration', reason: 'is one passkey too many' }],
  });
}

function register(
  database: Database,
  writer: Writer,
  challenge: string,
  voucher: Voucher,
  passkey: NewPasskey,
): Promise<Passkey> {
  const { tenantId, principal, keyId } = writer;
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    await lockPrincipal(tx, tenantId, principal);
    await spendChallenge(tx, writer, challenge, 'registration');
    const older = await list(tx, tenantId, principal);
    if (older.length >= PASSKEYS_MAX) throw tooManyPasskeys();
    await spendVoucher(tx, writer, voucher, older);
    const [row] = await tx
      .insert(passkeys)
      .values({ tenantId, principal, ...passkey })
      .onConflictDoNothing({ target: [passkeys.tenantId, passkeys.credentialId] })
      .returning();
    if (row !== undefined) return toPasskey(row);
    throw new Fault('invalid_request', 'this passkey is known already. Make a new one', {
      issues: [{ pointer: '/registration/id', reason: 'is that of a passkey known already' }],
    });
  });
}

function remove(
  database: Database,
  { tenantId, keyId }: Writer,
  credentialId: string,
  principal: string | null,
): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    const removed = await tx
      .update(passkeys)
      .set({ removedAt: now })
      .where(
        and(
          eq(passkeys.tenantId, tenantId),
          eq(passkeys.credentialId, credentialId),
          isNull(passkeys.removedAt),
          principal === null ? undefined : eq(passkeys.principal, principal),
        ),
      )
      .returning({ credentialId: passkeys.credentialId });
    if (removed.length === 0) throw notFound();
  });
}

/** Passkeys, enrolment codes and challenges in the database; see the port. */
export function createPasskeyStore(database: Database): PasskeyStore {
  return {
    list: (...args) => guarded(() => list(database.db, ...args)),
    issueCode: (...args) => issueCode(database, ...args),
    isCodeGood: (...args) => guarded(() => isCodeGood(database, ...args)),
    openChallenge: (challenge) => guarded(() => openChallenge(database, challenge)),
    findChallenge: (...args) => guarded(() => findChallenge(database, ...args)),
    register: (...args) => register(database, ...args),
    remove: (...args) => remove(database, ...args),
  };
}
