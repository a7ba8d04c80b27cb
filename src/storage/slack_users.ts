import { and, eq, isNull, ne } from 'drizzle-orm';
import { type KeyLimits, NO_LIMITS } from '../core/caller.ts';
import type { FreshKey, SlackStore, SlackUserKey } from '../core/slack_ports.ts';
import type { Database, Executor } from './database.ts';
import { guarded } from './database_errors.ts';
import { insertKey } from './keys.ts';
import { keys, principals } from './schema.ts';
import { inTransaction } from './transaction.ts';

interface UserRow {
  principal: string;
  disabled: boolean;
  /** Whether there is, or ever was, a key but those of console sessions. */
  had_key: boolean;
  token_hash: string | null;
}

/** A key of which nobody has the token claims no origin. */
const LIMITS: KeyLimits = { ...NO_LIMITS, sourceTrustCeiling: 'unknown' };

async function findUser(
  { sql }: Database,
  tenantId: string,
  slackUser: string,
): Promise<UserRow | undefined> {
  const [row] = await sql<UserRow[]>`
    select p.principal, p.disabled_at is not null as disabled,
      exists (select from keys k where k.tenant_id = p.tenant_id and k.principal = p.principal
        and k.origin <> 'oidc') as had_key,
      (select k.token_hash from keys k where k.tenant_id = p.tenant_id and k.principal = p.principal
        and k.origin <> 'oidc' and 'approver' = any(k.roles) and k.revoked_at is null and k.disabled_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
        order by k.created_at desc, k.key_id desc limit 1) as token_hash
    from principals p where p.tenant_id = ${tenantId} and p.slack_user = ${slackUser}`;
  return row;
}

async function hadKey(tx: Executor, tenantId: string, principal: string): Promise<boolean> {
  const [key] = await tx
    .select({ keyId: keys.keyId })
    .from(keys)
    .where(and(eq(keys.tenantId, tenantId), eq(keys.principal, principal), ne(keys.origin, 'oidc')))
    .limit(1);
  return key !== undefined;
}

/** Makes the one key that a principal without any is given, under the principal's row; false when it has one by now. */
function makeKey(database: Database, tenantId: string, slackUser: string, fresh: FreshKey): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const [mapped] = await tx
      .select({ principal: principals.principal })
      .from(principals)
      .where(
        and(
          eq(principals.tenantId, tenantId),
          eq(principals.slackUser, slackUser),
          isNull(principals.disabledAt),
        ),
      )
      .for('no key update');
    if (mapped === undefined || (await hadKey(tx, tenantId, mapped.principal))) return false;
    await insertKey(tx, {
      tenantId,
      ...fresh,
      principal: mapped.principal,
      roles: ['approver'],
      groups: [],
      owner: null,
      defaultOwner: null,
      limits: LIMITS,
      createdBy: null,
      expiresAt: null,
      origin: 'slack',
    });
    return true;
  });
}

function toUserKey(user: UserRow | undefined): SlackUserKey {
  if (user === undefined) return { kind: 'unmapped' };
  if (user.disabled) return { kind: 'disabled' };
  return user.token_hash === null ? { kind: 'keyless' } : { kind: 'key', tokenHash: user.token_hash };
}

/** Finds with which key a Slack user acts; see `SlackStore.findUserKey`. */
export function createSlackUsers(database: Database): Pick<SlackStore, 'findUserKey'> {
  return {
    findUserKey: async (tenantId, slackUser, fresh) => {
      const read = () => guarded(() => findUser(database, tenantId, slackUser));
      const user = await read();
      const found = toUserKey(user);
      if (found.kind !== 'keyless' || user === undefined || user.had_key) return found;
      await makeKey(database, tenantId, slackUser, fresh);
      return toUserKey(await read());
    },
  };
}
