import { createHmac } from 'node:crypto';

/** The first 8 hex characters of the HMAC-SHA-256 (RFC 2104) of a text's UTF-8 under a key. */
export function computeFingerprint(key: string, text: string): string {
  return createHmac('sha256', key).update(text, 'utf8').digest('hex').slice(0, 8);
}
