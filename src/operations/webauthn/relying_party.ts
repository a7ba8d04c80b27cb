import { sha256Hex } from '../../core/digest.ts';
import type { Deps } from '../deps.ts';

/** Who authenticators sign for (Web Authentication Level 3 §5.1.2): the console's host, and its pages' origin. */
export interface RelyingParty {
  rpId: string;
  origin: string;
}

/** The relying party that this service is, by its own address. */
export function relyingPartyOf(deps: Pick<Deps, 'publicUrl'>): RelyingParty {
  const { hostname, origin } = new URL(deps.publicUrl.get());
  return { rpId: hostname, origin };
}

/** The bytes of a text's SHA-256 in base64url. */
export function hashToBase64url(text: string): string {
  return Buffer.from(sha256Hex(text), 'hex').toString('base64url');
}

/** 32 bytes that nobody can foresee, in base64url. */
export function newNonce(deps: Pick<Deps, 'newSecret'>): string {
  return hashToBase64url(deps.newSecret());
}
