import { and, eq, sql } from 'drizzle-orm';
import { subjectsOf } from '../core/asker_ports.ts';
import type {
  ConsoleSession,
  ConsoleSessionStore,
  OidcSession,
  SessionOrigin,
} from '../core/console_ports.ts';
import { createSharedRead } from './batcher.ts';
import { type CallerRow, callerTables, keyStandsNow, selectCaller, toCaller } from './caller_row.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { insertKey } from './keys.ts';
import { consoleSessions } from './people_schema.ts';
import { revokeKeyIn } from './revoke_key.ts';
import { keys, principals } from './schema.ts';
import type { SignalPublisher } from './signals.ts';
import { lockStandingKey } from './standing.ts';
import { inTransaction } from './transaction.ts';

/** How long a session lasts, used or not. */
const LIFE = sql`interval '12 hours'`;

interface SessionRow extends CallerRow {
  session_hash: string;
  origin: SessionOrigin;
  session_expires_at: string;
}

function createFind(database: Database): ConsoleSessionStore['find'] {
  const { sql: query } = database;
  const [columns, tables, stands] = [selectCaller(query), callerTables(query), keyStandsNow(query)];
  return createSharedRead(async (sessionHashes) => {
    const rows = await guarded(
      async () => query<SessionRow[]>`
        select s.session_hash, s.origin, s.expires_at as session_expires_at, ${columns}
        from ${tables} join console_sessions s on s.key_id = k.key_id
        where s.session_hash = any(${sessionHashes}::text[]) and s.expires_at > clock_timestamp()
          and ${stands} and k.frozen_at is null`,
    );
    return new Map(
      rows.map((row): [string, ConsoleSession] => [
        row.session_hash,
        { caller: toCaller(row), origin: row.origin, expiresAt: new Date(row.session_expires_at) },
      ]),
    );
  });
}

function open(database: Database, sessionHash: string, keyId: string): Promise<void> {
  return inTransaction(database, async (tx) => {
    await lockStandingKey(tx, keyId);
    await tx.insert(consoleSessions).values({
      sessionHash,
      keyId,
      origin: 'key',
      expiresAt: sql`least(clock_timestamp() + ${LIFE},
        (select k.expires_at from keys k where k.key_id = ${keyId}))` as unknown as Date,
    });
  });
}

/** Makes key and session under the principal's row: whoever disables, freezes or maps it anew waits, or was first. */
function openOidc(
  database: Database,
  { subject, sessionHash, key }: OidcSession,
): Promise<'opened' | 'unmapped' | 'disabled' | 'frozen'> {
  return inTransaction(database, async (tx) => {
    const [found] = await tx
      .select({
        principal: principals.principal,
        disabledAt: principals.disabledAt,
        frozenAt: principals.frozenAt,
        expiresAt: sql`clock_timestamp() + ${LIFE}`.mapWith(keys.expiresAt),
      })
      .from(principals)
      .where(and(eq(principals.tenantId, key.tenantId), eq(principals.oidcSubject, subject)))
      .for('no key update');
    if (found === undefined) return 'unmapped';
    if (found.disabledAt !== null) return 'disabled';
    if (found.frozenAt !== null) return 'frozen';
    const expiresAt = found.expiresAt as Date;
    await insertKey(tx, { ...key, principal: found.principal, expiresAt });
    await tx.insert(consoleSessions).values({ sessionHash, keyId: key.keyId, origin: 'oidc', expiresAt });
    return 'opened';
  });
}

function createClose(database: Database, publisher: SignalPublisher): ConsoleSessionStore['close'] {
  return async (sessionHash) => {
    const changed = await inTransaction(database, async (tx) => {
      const [closed] = await tx
        .delete(consoleSessions)
        .where(eq(consoleSessions.sessionHash, sessionHash))
        .returning({ keyId: consoleSessions.keyId, origin: consoleSessions.origin });
      if (closed === undefined) return [];
      if (closed.origin === 'key') return [sessionHash];
      const [key] = await tx
        .select({ tenantId: keys.tenantId })
        .from(keys)
        .where(eq(keys.keyId, closed.keyId));
      if (key === undefined) throw new Error('a session without its key');
      const approvalIds = await revokeKeyIn(tx, key.tenantId, closed.keyId, 'rotated');
      return [sessionHash, closed.keyId, ...subjectsOf(key.tenantId, approvalIds)];
    });
    publisher.publish(changed);
  };
}

/** The console's sessions in the database; see the port. */
export function createConsoleSessionStore(
  database: Database,
  publisher: SignalPublisher,
): ConsoleSessionStore {
  return {
    find: createFind(database),
    open: (sessionHash, keyId) => open(database, sessionHash, keyId),
    openOidc: (session) => openOidc(database, session),
    close: createClose(database, publisher),
  };
}
