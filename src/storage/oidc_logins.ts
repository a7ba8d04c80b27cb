import { eq, sql } from 'drizzle-orm';
import type { OidcLogin, OidcLoginStore } from '../core/console_ports.ts';
import type { Database } from './database.ts';
import { guarded } from './database_errors.ts';
import { oidcLogins } from './people_schema.ts';

/** How long somebody may take at the provider. */
const LIFE = sql`interval '10 minutes'`;

async function begin({ db }: Database, stateHash: string, login: OidcLogin): Promise<void> {
  const expiresAt = sql`clock_timestamp() + ${LIFE}` as unknown as Date;
  await db.insert(oidcLogins).values({ stateHash, ...login, expiresAt });
}

async function take({ db }: Database, stateHash: string): Promise<OidcLogin | undefined> {
  const [taken] = await db
    .delete(oidcLogins)
    .where(eq(oidcLogins.stateHash, stateHash))
    .returning({
      nonce: oidcLogins.nonce,
      codeVerifier: oidcLogins.codeVerifier,
      returnTo: oidcLogins.returnTo,
      isInTime: sql<boolean>`${oidcLogins.expiresAt} > clock_timestamp()`,
    });
  if (taken === undefined || !taken.isInTime) return undefined;
  const { nonce, codeVerifier, returnTo } = taken;
  return { nonce, codeVerifier, returnTo };
}

/** The sign-ins that are at the provider, in the database; see the port. */
export function createOidcLoginStore(database: Database): OidcLoginStore {
  return {
    begin: (stateHash, login) => guarded(() => begin(database, stateHash, login)),
    take: (stateHash) => guarded(() => take(database, stateHash)),
  };
}
