import { hash } from 'node:crypto';

declare const sha256Hex_: unique symbol;

/** A SHA-256 as 64 lower-case hex characters. */
export type Sha256Hex = string & { readonly [sha256Hex_]: true };

/** SHA-256 (FIPS 180-4) of bytes, or of a text's UTF-8 bytes. A text must be free of lone surrogates. */
export function sha256Hex(data: string | Uint8Array): Sha256Hex {
  return hash('sha256', data) as Sha256Hex;
}
