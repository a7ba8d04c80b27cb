import type { JsonValue } from '../../core/json.ts';
import { maskMember } from '../../core/mask_member.ts';
import type { Masker } from '../../core/masker.ts';

/** A secret shorter than this may well stand elsewhere by chance; of longer ones this much is looked for. */
const SECRET_LENGTH_MIN = 8;
/** What a secret does not hold where it is one word of a command, a URL or an assignment. */
const WORD = /[^\s'"`;|&=:,(){}<>$\\[\]@]+/g;

/** Masks the texts of one view. What it has hidden once it hides wherever it stands again. */
export interface Hider {
  maskText(text: string): string;
  /** Masks a value with its name before it, which tells some secrets from other words. */
  maskMember(name: string, value: string): string;
  maskWhole(value: JsonValue): string;
}

/**
 * A command's secret need not look like one in the piece of it that a later line shows, without what stood before it:
 * the words that were hidden in one text are hidden in all that come after it, from where they begin to the end of the
 * word that they have become part of. So are those of `secrets`, from the start. Only words of at least eight
 * characters.
 */
export function createHider(masker: Masker, secrets: readonly string[]): Hider {
  const starts = new Set(secrets.flatMap(longWords).map(startOf));
  const hideIn = (word: string): string => {
    for (let at = 0; at + SECRET_LENGTH_MIN <= word.length; at += 1) {
      if (!starts.has(word.slice(at, at + SECRET_LENGTH_MIN))) continue;
      return word.slice(0, at) + masker.maskWhole(word.slice(at));
    }
    return word;
  };
  const hide = (text: string, masked: string): string => {
    if (masked !== text) {
      const left = new Set(masked.match(WORD));
      for (const word of longWords(text)) if (!left.has(word)) starts.add(startOf(word));
    }
    return starts.size === 0 ? masked : masked.replace(WORD, hideIn);
  };
  return {
    maskText: (text) => hide(text, masker.maskText(text)),
    maskMember: (name, value) => hide(value, maskMember(masker, name, value)),
    maskWhole: (value) => masker.maskWhole(value),
  };
}

function longWords(text: string): string[] {
  return (text.match(WORD) ?? []).filter(({ length }) => length >= SECRET_LENGTH_MIN);
}

function startOf(word: string): string {
  return word.slice(0, SECRET_LENGTH_MIN);
}
