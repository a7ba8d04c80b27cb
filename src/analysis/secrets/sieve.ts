import { findNative } from './expressions.ts';
import type { Finding } from './finding.ts';

/** Whether a rule can match about the place of one of its words. Where it says no, the expression has no match. */
export type Sieve = (text: string, start: number) => boolean;

/** What a rule's match that begins at a place could have for a secret; undefined where there is no match. */
export type Measure = (text: string, start: number, reach: number) => Finding | undefined;

/**
 * A look before an expression that matches where its word stands, with the runtime's own engine, which is quick at it.
 * Wider than the expression: case is not told apart, nor the edges of words. Undefined for expressions that are better
 * not looked at so: with several counts of the same characters that engine would go back and forth.
 */
export function createMeasure(expression: string): Measure | undefined {
  if (expression.includes('{10,200}') || expression.includes('[^')) return undefined;
  const translated = expression
    .replaceAll('(?i)', '')
    .replace(/\(\?-?i:/g, '(?:')
    .replaceAll('[:alnum:]', 'a-zA-Z0-9')
    .replaceAll('\\b', '')
    .replaceAll('\\z', '$')
    .replace(/\\(.)/g, (written, character: string) =>
      '-"\'#_<>@ '.includes(character) ? `\\x${character.charCodeAt(0).toString(16)}` : written,
    );
  const regex = new RegExp(translated, 'disuy');
  return (text, start, reach) => findNative(regex, text, start, reach);
}
