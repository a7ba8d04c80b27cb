import type { Deps } from '../deps.ts';

/**
 * A secret in the form of Standard Webhooks 1.0 ("Signature scheme"): base64 of 24 to 64 bytes after its prefix. The
 * bytes are the characters of a secret of 256 bits.
 */
export function makeWebhookSecret({ newSecret }: Pick<Deps, 'newSecret'>): string {
  return `whsec_${btoa(newSecret())}`;
}
