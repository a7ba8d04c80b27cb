import { createMasker } from '../analysis/secrets/masker.ts';
import type { Caller } from '../core/caller.ts';
import type { Masker } from '../core/masker.ts';

/** Texts this long and longer are remembered with what they are masked to: lists show the same ones over and over. */
const REMEMBERED_LENGTH_MIN = 1024;
/** Characters remembered in all; a full page of the largest actions has as many. Beyond them all is forgotten. */
const REMEMBERED_CHARACTERS = 16 * 1024 * 1024;
/** Tenants whose maskers are kept. */
const MASKERS_MAX = 1000;

const maskers = new Map<string, Masker>();
let rememberedCharacters = 0;

/** The masker of a caller's tenant: within a tenant one secret has one fingerprint. */
export function maskerOf(caller: { tenant: Pick<Caller['tenant'], 'maskKey'> }): Masker {
  const { maskKey } = caller.tenant;
  const known = maskers.get(maskKey);
  if (known !== undefined) return known;
  if (maskers.size >= MASKERS_MAX) forget();
  const masker = rememberTexts(createMasker(maskKey));
  maskers.set(maskKey, masker);
  return masker;
}

/** What a masker remembers goes with it. */
function forget(): void {
  maskers.clear();
  rememberedCharacters = 0;
}

/** A person's or an agent's words as they may be stored. */
export function maskWords(caller: Caller, words: string | null | undefined): string | null {
  return words == null ? null : maskerOf(caller).maskText(words);
}

function rememberTexts(masker: Masker): Masker {
  const remembered = new Map<string, string>();
  return {
    maskWhole: (value) => masker.maskWhole(value),
    maskText: (text) => {
      if (text.length < REMEMBERED_LENGTH_MIN) return masker.maskText(text);
      const known = remembered.get(text);
      if (known !== undefined) return known;
      const masked = masker.maskText(text);
      if (rememberedCharacters + text.length > REMEMBERED_CHARACTERS) {
        forget();
        remembered.clear();
      }
      remembered.set(text, masked);
      rememberedCharacters += text.length;
      return masked;
    },
  };
}
