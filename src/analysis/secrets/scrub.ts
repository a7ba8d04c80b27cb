import type { Masker } from '../../core/masker.ts';
import { findSecrets } from './catalogue.ts';

export interface Scrubbed {
  /** `blocked` where a private key is in it: then nothing of it is given. */
  verdict: 'clean' | 'redacted' | 'blocked';
  bytes: Uint8Array;
}

/**
 * What shows nothing or reorders what is shown: a terminal's control sequences (ECMA-48 §5.4, §8.3.89) as wholes, controls
 * but tab, line feed and carriage return, format characters, and what Unicode says to ignore.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
  /\x1b\[[0-?]{0,64}[ -/]{0,16}[@-~]|\x1b\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|(?![\t\n\r])[\p{Cc}\p{Cf}\p{DI}\p{Zl}\p{Zp}]/gu;

/**
 * Takes secrets out of the bytes of a command's output. Bytes that are UTF-8 lose unseen characters first, so that none
 * splits a secret; other bytes are looked at one by one (ISO 8859-1), and all that is no secret comes out as it was.
 */
export function scrub(bytes: Uint8Array, masker: Masker): Scrubbed {
  const text = decodeUtf8(bytes);
  return text === undefined
    ? scrubText(bytes, decodeLatin1(bytes), 'latin1', masker)
    : scrubText(bytes, text, 'utf8', masker);
}

function scrubText(bytes: Uint8Array, raw: string, encoding: 'utf8' | 'latin1', masker: Masker): Scrubbed {
  const seen = encoding === 'utf8' ? raw.replace(UNSEEN, '') : raw;
  if (hasPrivateKey(raw) || (seen !== raw && hasPrivateKey(seen))) {
    return { verdict: 'blocked', bytes: new Uint8Array() };
  }
  const masked = masker.maskText(seen);
  if (masked === raw) return { verdict: 'clean', bytes };
  return { verdict: 'redacted', bytes: Buffer.from(masked, encoding) };
}

/** Whether a private key, or the beginning of one, is in a text. */
export function hasPrivateKey(text: string): boolean {
  return findSecrets(text).some(({ isPrivateKey }) => isPrivateKey === true);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
