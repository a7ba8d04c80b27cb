import type { JsonValue } from '../../core/json.ts';
import { maskMember } from '../../core/mask_member.ts';
import type { Masker } from '../../core/masker.ts';

/** A secret shorter than this may well stand elsewhere by chance. */
const SECRET_LENGTH_MIN = 8;
/** Of longer ones no more is compared, and no more words of one beginning are looked for. */
const COMPARED_MAX = 64;
const ALIKE_MAX = 8;
/** Words of one text that are looked for elsewhere: each costs a search through the text. */
const REMEMBERED_MAX = 64;
/** So few are looked for in a text before its words are taken one by one. */
const FEW = 8;
/** What a secret does not hold where it is one word of a command, a URL or an assignment. No shorter word matters. */
const WORD = /[^\s'"`;|&=:,(){}<>$\\[\]@]{8,}/g;
/** A word as quotes and spaces bound it: a password may have in it whatever bounds others. */
const COARSE = /[^\s'"`]{8,}/g;
/** Marks that hosts, paths, options and numbers do not have; with so many different ones a word is none of these. */
const MARK = /[^A-Za-z0-9_./:=-]/g;
const MARKS_MIN = 3;
/** Paths, URLs and options: what says where a command leads is not hidden because a mask has covered it once. */
const LEADING = /^[/~.-]/;

/** Masks the texts of one view. What it has hidden of a text it hides wherever it stands again. */
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
 * characters, and only such as could be nothing but a secret: whoever asks chooses what masks cover, and must not hide
 * by it an executable, a host or a folder that stands elsewhere.
 */
export function createHider(masker: Masker, secrets: readonly string[]): Hider {
  const words = createMemory(masker);
  const coarseWords = createMemory(masker);
  for (const word of secrets.flatMap((text) => wordsIn(text, WORD))) words.remember(word);
  const hide = (masked: string): string => words.hide(coarseWords.hide(masked, COARSE), WORD);
  return {
    maskText: (text) => {
      const masked = masker.maskText(text);
      if (masked !== text) {
        const left = new Set(wordsIn(masked, COARSE));
        // What stands in a word that is left can be read there.
        const coarse = wordsIn(text, COARSE).filter((one) => !left.has(one));
        const fine = coarse.flatMap((one) => wordsIn(one, WORD));
        for (const word of hiddenWords(fine, masked, WORD).filter(isSecretAlone)) words.remember(word);
        for (const word of hiddenWords(coarse, masked, COARSE).filter(isMarked)) coarseWords.remember(word);
      }
      return hide(masked);
    },
    maskMember: (name, value) => hide(maskMember(masker, name, value)),
    maskWhole: (value) => masker.maskWhole(value),
  };
}

/** Words that are looked for in others. Linear in the text's length, whatever is remembered. */
function createMemory(masker: Masker) {
  const known = new Map<string, string[]>();
  const hideIn = (word: string): string => {
    for (let at = 0; at + SECRET_LENGTH_MIN <= word.length; at += 1) {
      const alike = known.get(word.slice(at, at + SECRET_LENGTH_MIN));
      if (alike === undefined || !alike.some((one) => word.startsWith(one, at))) continue;
      return word.slice(0, at) + masker.maskWhole(word.slice(at));
    }
    return word;
  };
  return {
    remember: (word: string): void => {
      const start = word.slice(0, SECRET_LENGTH_MIN);
      const alike = known.get(start) ?? [];
      const compared = word.slice(0, COMPARED_MAX);
      if (alike.length < ALIKE_MAX && !alike.includes(compared)) known.set(start, [...alike, compared]);
    },
    hide: (text: string, word: RegExp): string => {
      const mayHold = known.size > FEW || [...known.keys()].some((start) => text.includes(start));
      return mayHold ? text.replace(word, hideIn) : text;
    },
  };
}

/** Of words that a mask has covered those that can be read nowhere else in the text: there they would be no secret. */
function hiddenWords(covered: readonly string[], masked: string, word: RegExp): string[] {
  let hidden = [...new Set(covered)];
  if (hidden.length > REMEMBERED_MAX) {
    const left = new Set(wordsIn(masked, word));
    hidden = hidden.filter((one) => !left.has(one));
  }
  return hidden.slice(0, REMEMBERED_MAX).filter((one) => !masked.includes(one));
}

function wordsIn(text: string, word: RegExp): readonly string[] {
  return text.match(word) ?? [];
}

function isMarked(word: string): boolean {
  return !word.includes('//') && new Set(word.match(MARK)).size >= MARKS_MIN;
}

/** Whether a word is none that is said, as names are: it mixes cases, or letters with what is none. */
function isSecretAlone(word: string): boolean {
  if (LEADING.test(word)) return false;
  return !/^[A-Za-z_.-]*$/.test(word) || (/[a-z]/.test(word) && /[A-Z]/.test(word));
}
