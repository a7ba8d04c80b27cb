import { showText } from '../analysis/review/show_text.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';
import { maskerOf } from './masking.ts';

/** Words of others, made fit to be shown to a caller. */
export interface Words {
  /** As one line: line breaks are escapes as well. */
  line(text: string): string;
  /** As the lines it has. */
  lines(text: string): string[];
}

const LINE_BREAK = /\r\n|\n/;
/** Reads to the same text wherever it stands in JSON (RFC 8259 §7), and can be seen. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u2000-\u200a\u202f\u205f\u3000\u2800\ufffc]/gu;

/**
 * Words as a review shows them: secrets are masked, and what is drawn as nothing, moves other characters about or can
 * be taken for another is an escape. See `showText`.
 */
export function wordsFor(caller: Caller): Words {
  const masker = maskerOf(caller);
  const show = (text: string): string => showText(text, { mayRunLeft: true, isToken: false }).text;
  return {
    line: (text) => show(masker.maskText(text)),
    lines: (text) => masker.maskText(text).split(LINE_BREAK).map(show),
  };
}

/** An object as indented JSON for a person to change, with what cannot be seen in it as JSON's own escapes. */
export function writeForEditing(value: JsonObject): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}
