import type { Caller } from '../../core/caller.ts';
import { notFound } from '../../core/common_faults.ts';
import { BASE64URL } from '../../core/webauthn_responses.ts';
import type { Deps } from '../deps.ts';

/**
 * Removes a passkey of the caller's own, or anybody's for an operator. What it signed stays signed; it signs no more.
 * @throws Fault `not_found`.
 */
export async function removePasskey(deps: Deps, caller: Caller, credentialId: string): Promise<void> {
  if (!BASE64URL.test(credentialId)) throw notFound();
  const isOperator = caller.roles.includes('operator');
  await deps.passkeys.remove(caller, credentialId, isOperator ? null : caller.principal);
}
