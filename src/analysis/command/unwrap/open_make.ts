import type { Word } from '../analysis.ts';
import { optionSpec, readOptions } from './options.ts';
import { hidden, type Opener } from './outcome.ts';
import { isKnownFile } from './word_tools.ts';

const MAKE = optionSpec(
  'Bb:C:df:eEhI:ij::kl::mno:O::pqrRsSt:vW:w',
  'file= makefile= directory= jobs? include-dir= eval= always-make keep-going silent quiet no-print-directory',
);

/** `make -f F`; without `-f` no word names the file. */
export function readMakeFiles(words: readonly Word[]): Word[] {
  const files: Word[] = [];
  let at = 1;
  while (at < words.length) {
    const options = readOptions(words, at, MAKE);
    if (options === null) break;
    for (const [name, value] of options.seen) {
      if (/^(?:f|file|makefile)$/.test(name) && value !== null) files.push(value);
    }
    at = options.at + 1;
  }
  return files;
}

/** `make` runs what its file says; text of its words it runs only by these. */
export const openMake: Opener = ({ words }) => {
  const runs = words
    .slice(1)
    .some(({ value }) =>
      /^(?:--ev|-E|[^=]*!=|(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)[:?+]*=)|\$[({]/.test(value ?? ''),
    );
  const reads = !readMakeFiles(words).every(isKnownFile);
  return runs || reads ? [hidden('`make` would run what its words or its input say')] : [];
};
