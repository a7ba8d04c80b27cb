import type { FirstTokens } from './first_keys.ts';

/**
 * What the first start says of the keys it made: in a terminal one line to paste, elsewhere only the file, since
 * output that is kept is no place for tokens.
 */
export function describeFirstKeys(
  url: string,
  { tokens, path }: { tokens: FirstTokens; path: string },
  isTerminal: boolean,
): string {
  if (!isTerminal) return `first keys: ${path}`;
  const names = Object.keys(tokens) as (keyof FirstTokens)[];
  const assignments = [`AEGIS_URL=${url}`, ...names.map((name) => `${name}=${tokens[name]}`)];
  return `first keys, kept in ${path}; paste into another terminal:\n\nexport ${assignments.join(' ')}\n`;
}
