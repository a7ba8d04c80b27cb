/** The part of `node:crypto` used here. */
interface NodeCrypto {
  createHash(algorithm: 'sha256'): {
    update(text: string, encoding: 'utf8'): { digest(encoding: 'hex'): string };
  };
}

/** The part of `globalThis` looked at. */
interface Host {
  process?: { getBuiltinModule?: (id: string) => unknown };
}

/** SHA-256 (FIPS 180-4) of a text's UTF-8 bytes, 64 lower-case hex characters. */
export type Sha256Hex = (text: string) => string | Promise<string>;

/**
 * Picks the digest of a runtime: `node:crypto` where it can be had without an import (an edge bundle with such an
 * import would not load), which answers at once, else WebCrypto, which answers with a promise.
 */
export function chooseSha256Hex(host: Host): Sha256Hex {
  const nodeCrypto = host.process?.getBuiltinModule?.('node:crypto');
  return isNodeCrypto(nodeCrypto)
    ? (text) => nodeCrypto.createHash('sha256').update(text, 'utf8').digest('hex')
    : webSha256Hex;
}

export const sha256Hex: Sha256Hex = chooseSha256Hex(globalThis as Host);

async function webSha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return toHex(new Uint8Array(digest));
}

/** A fresh 256-bit token, 64 hex characters, from the runtime's secure random source. */
export function randomToken(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function isNodeCrypto(value: unknown): value is NodeCrypto {
  return typeof value === 'object' && value !== null && 'createHash' in value;
}
