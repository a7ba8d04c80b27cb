import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import { passkeyRefused } from '../core/webauthn_ports.ts';
import type { Executor } from './database.ts';
import { passkeys } from './people_schema.ts';

/**
 * Notes a use of a principal's passkey. The counter must go up, or be 0 for an authenticator that does not count (Web
 * Authentication Level 3 §6.1.1): one that goes back is a copy's.
 * @throws Fault `signature_invalid` when the passkey does not stand at the write, or its counter does not go up.
 */
export async function bumpCounter(
  tx: Executor,
  { tenantId, principal }: { tenantId: string; principal: string },
  credentialId: string,
  counter: number,
): Promise<void> {
  const goesUp = or(lt(passkeys.counter, counter), and(eq(passkeys.counter, 0), sql`${counter}::bigint = 0`));
  const used = await tx
    .update(passkeys)
    .set({ counter, lastUsedAt: sql`clock_timestamp()` as unknown as Date })
    .where(
      and(
        eq(passkeys.tenantId, tenantId),
        eq(passkeys.credentialId, credentialId),
        eq(passkeys.principal, principal),
        isNull(passkeys.removedAt),
        goesUp,
      ),
    )
    .returning({ credentialId: passkeys.credentialId });
  if (used.length === 0) throw passkeyRefused();
}
