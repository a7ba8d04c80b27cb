import type { Caller } from '../../core/caller.ts';
import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';
import { parsePathPrincipal } from '../path_names.ts';

/** How long somebody has to register with a code. */
const CODE_SECONDS = 3600;

export interface EnrolmentCode {
  /** In the answer and nowhere else. */
  code: string;
  principal: string;
  expiresAt: Date;
}

/**
 * Makes a code with which a principal registers a first passkey, once, within an hour; codes made for it before are
 * void.
 * @throws Fault `not_found` for a principal that is not there, or disabled.
 */
export async function createEnrolmentCode(deps: Deps, caller: Caller, id: string): Promise<EnrolmentCode> {
  const principal = parsePathPrincipal(id);
  const code = deps.newSecret();
  const expiresAt = await deps.passkeys.issueCode(caller, principal, sha256Hex(code), CODE_SECONDS);
  return { code, principal, expiresAt };
}
