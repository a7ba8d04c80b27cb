import type { JsonValue } from './json.ts';

/** What stands in a secret's place, wherever it does in a text. */
export const MASK = /\(secret [0-9a-f]{8}\)/g;

/**
 * Hides secrets in whatever is shown, logged, sent or stored outside the frozen action. What stands in a secret's
 * place has a short keyed fingerprint of the raw value, so that two different secrets look different.
 */
export interface Masker {
  /** The text with everything that the catalogue takes for a secret replaced. What comes out has no match left. */
  maskText(text: string): string;
  /** What stands in the place of a value that is secret as a whole, whatever it looks like. */
  maskWhole(value: JsonValue): string;
}
