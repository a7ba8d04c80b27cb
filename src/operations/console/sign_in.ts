import type { Caller, Role } from '../../core/caller.ts';
import { agentFrozen } from '../../core/common_faults.ts';
import { sha256Hex } from '../../core/digest.ts';
import { Fault } from '../../core/fault.ts';
import type { Deps } from '../deps.ts';
import { identifyCaller } from '../identify_caller.ts';

export interface SignInInput {
  /** As it was typed. */
  key: string;
  address: () => string;
  /** The session that this browser had, which ends. */
  formerSecret: string | undefined;
}

/** What a key can be: a token68 (RFC 9110 §11.2) of at most 512 characters, as in `Authorization`. */
const KEY = /^(?=.{1,512}$)[A-Za-z0-9\-._~+/]+=*$/;
const ROLES_OF_PEOPLE: readonly Role[] = ['approver', 'operator', 'auditor'];

function assertPerson({ roles, frozen }: Caller): void {
  if (roles.includes('agent')) {
    throw new Fault(
      'forbidden',
      "this is an agent's key, and the console is for people. Sign in with an approver's, operator's or auditor's key",
    );
  }
  if (!ROLES_OF_PEOPLE.some((role) => roles.includes(role))) {
    throw new Fault(
      'forbidden',
      "this key has no role for the console. Sign in with an approver's, operator's or auditor's key",
    );
  }
  if (frozen) throw agentFrozen();
}

/**
 * Opens a session of the console for the holder of a key; its secret, which is stored nowhere. A sign-in always makes a
 * new session. What is no key that stands counts against the address, as in the API.
 * @throws Fault `unauthenticated`, `throttled`; `forbidden` for a key that is none of a person; `agent_frozen`.
 */
export async function signIn(deps: Deps, { key, address, formerSecret }: SignInInput): Promise<string> {
  const token = key.trim();
  const caller = await identifyCaller(deps, KEY.test(token) ? token : undefined, address);
  assertPerson(caller);
  if (formerSecret !== undefined) await deps.consoleSessions.close(sha256Hex(formerSecret));
  const secret = deps.newSecret();
  await deps.consoleSessions.open(sha256Hex(secret), caller.keyId);
  return secret;
}
