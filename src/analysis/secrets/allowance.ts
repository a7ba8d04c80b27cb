import { RE2JS } from 're2js';
import { createKeywordScanner } from './keyword_scanner.ts';

/** What a rule takes for no secret although it matches. */
export interface Allowlist {
  /** What its expressions are looked for in. Its words are always looked for in the secret. */
  target: 'secret' | 'match' | 'line';
  regexes: string[];
  stopwords: string[];
}

/** Whether one of the allowlists lets a match pass. Compiles them. */
export function createAllowance(
  lists: readonly Allowlist[],
): (secret: string, match: string, line: () => string) => boolean {
  const checks = lists.map(({ target, regexes, stopwords }) => {
    const compiled = regexes.map((regex) => RE2JS.compile(regex));
    const scan = stopwords.length === 0 ? undefined : createKeywordScanner(stopwords);
    return (secret: string, match: string, line: () => string): boolean => {
      let isStopped = false;
      scan?.(secret, () => {
        isStopped = true;
      });
      if (isStopped) return true;
      const text = { secret: () => secret, match: () => match, line }[target];
      return compiled.length > 0 && compiled.some((regex) => regex.test(text()));
    };
  });
  return (secret, match, line) => checks.some((check) => check(secret, match, line));
}
