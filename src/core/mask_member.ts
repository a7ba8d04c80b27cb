import type { Masker } from './masker.ts';

/** Longer texts are no single password, and what the name says of them is not asked. */
const NAMED_LENGTH_MAX = 512;

/**
 * A text that is the value of a named member, masked. The name tells some secrets from other words: `hunter2` is one
 * under `password`, so what the masker says of the pair counts as well.
 */
export function maskMember(masker: Masker, name: string, value: string): string {
  const masked = masker.maskText(value);
  if (masked !== value || value === '' || value.length > NAMED_LENGTH_MAX) return masked;
  const plain = value.replace(/["\\\s]/g, ' ');
  const pair = `"${name.replace(/["\\\s]/g, ' ')}": "${plain}"`;
  return masker.maskText(pair) === pair ? value : masker.maskWhole(value);
}
