import type { Segment } from '../command/analysis.ts';
import { isBareName } from '../command/command_name.ts';
import { type Expander, expandWord } from './expand_word.ts';

/** The last component of an executable as a rule names it: lower case, without `.exe`. */
export function baseName(executable: string): string {
  if (isBareName(executable)) return executable;
  const name = executable.slice(Math.max(executable.lastIndexOf('/'), executable.lastIndexOf('\\')) + 1);
  const lower = name.toLowerCase();
  return lower.endsWith('.exe') ? lower.slice(0, -4) : lower;
}

/** How many words that the first may expand to are each taken for the name. */
const NAMES_MAX = 16;

export interface NamedWords {
  name: string;
  args: readonly string[];
}

/** The readings of a segment's words as a name and what follows it: several, where the first word has several. */
export function readNames(
  segment: Segment,
  expander: Expander,
  change: (args: readonly string[]) => readonly string[],
): NamedWords[] {
  const [first] = segment.words;
  if (first === undefined) return [];
  const names = expandWord(first, expander);
  const tail: string[] = [];
  for (let at = 1; at < segment.words.length; at += 1) {
    const word = segment.words[at];
    if (word !== undefined) for (const arg of expandWord(word, expander)) tail.push(arg);
  }
  if (names.length === 1) return [{ name: baseName(names[0] ?? ''), args: change(tail) }];
  return names
    .slice(0, NAMES_MAX)
    .map((name, index) => ({ name: baseName(name), args: change([...names.slice(index + 1), ...tail]) }));
}

/** What a segment reads where its redirections say so: a here-document or a here-string. */
export function bodyOf({ redirections }: Segment, expander: Expander): string | null {
  for (const { operator, target, body } of redirections) {
    if (body !== null) return body;
    if (operator === '<<<' && target !== null) return expandWord(target, expander).join('\n');
  }
  return null;
}

/** The files that a segment's redirections open for writing. */
export function writtenBy({ redirections }: Segment, expander: Expander): string[] {
  return redirections.flatMap(({ operator, target }) =>
    operator.includes('>') && target !== null ? expandWord(target, expander) : [],
  );
}
