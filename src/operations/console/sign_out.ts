import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';

/** Ends a session; a key that was made for it is revoked, and its votes stay. */
export function signOut(deps: Deps, secret: string): Promise<void> {
  return deps.consoleSessions.close(sha256Hex(secret));
}
