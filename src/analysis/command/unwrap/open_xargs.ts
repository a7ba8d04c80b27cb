import type { Piece, Word } from '../analysis.ts';
import { unknownCommand } from './open_wrapper.ts';
import { optionSpec, readOptions } from './options.ts';
import { type Opener, runUnknown, runWords } from './outcome.ts';
import { dynamicWord } from './word_tools.ts';

const XARGS = optionSpec(
  '0a:d:E:e::I:i::J:L:l::n:oP:prR:S:s:tx',
  `arg-file= delimiter= eof? exit interactive max-args= max-chars= max-lines? max-procs= no-run-if-empty null
   open-tty process-slot-var= replace? show-limits verbose help version`.replace(/\s+/g, ' '),
);
const REPLACING = new Set(['I', 'i', 'J', 'replace']);

/** `xargs`: what it reads become arguments at the end, or stand wherever the string to replace does. */
export const openXargs: Opener = ({ words }) => {
  const options = readOptions(words, 1, XARGS);
  if (options === null) return runUnknown(words.slice(1), unknownCommand());
  const rest = words.slice(options.at);
  if (rest.length === 0) return [];
  const replaced = options.seen.filter(([name]) => REPLACING.has(name)).at(-1);
  if (replaced === undefined) return [runWords([...rest, dynamicWord('…')])];
  const mark = replaced[1] === null ? '{}' : replaced[1].value;
  return mark === null || mark === ''
    ? runUnknown(rest, unknownCommand())
    : [runWords(replaceIn(rest, mark))];
};

/** Words in which something is put in place of a mark when they run. */
export function replaceIn(words: readonly Word[], mark: string): Word[] {
  return words.map((word) => {
    if (word.value === null || !word.value.includes(mark)) return word;
    const pieces = word.value
      .split(mark)
      .flatMap((text, index): Piece[] => [
        ...(index === 0 ? [] : [{ kind: 'dynamic' as const, text: mark }]),
        ...(text === '' ? [] : [{ kind: 'literal' as const, text, quoted: true }]),
      ]);
    return { text: word.text, value: null, pieces };
  });
}
