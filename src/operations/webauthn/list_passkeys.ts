import type { Caller } from '../../core/caller.ts';
import { Fault } from '../../core/fault.ts';
import type { Passkey } from '../../core/webauthn_ports.ts';
import type { Deps } from '../deps.ts';

/** A principal's passkeys, oldest first: the caller's own, or anybody's for an operator. @throws Fault `forbidden`. */
export async function listPasskeys(
  deps: Deps,
  caller: Caller,
  principal: string = caller.principal,
): Promise<Passkey[]> {
  if (principal !== caller.principal && !caller.roles.includes('operator')) {
    throw new Fault('forbidden', 'only an operator sees the passkeys of others. Leave `principal` out');
  }
  return deps.passkeys.list(caller.tenantId, principal);
}
