import { commandName } from '../command_name.ts';
import { interpreterNamed, readInterpreterArguments } from './interpreters.ts';
import { dynamic, hidden, type Opener } from './outcome.ts';
import { isKnownFile } from './word_tools.ts';

/** An interpreter: with a file it runs that, with code in its words or its input nobody here knows what. */
export const openInterpreter: Opener = ({ words, isPiped, redirections }) => {
  const name = interpreterNamed(commandName(words[0]?.value ?? ''));
  const read = name === undefined ? null : readInterpreterArguments(name, words);
  if (read === null) return [dynamic('an option of an interpreter is not known')];
  if (read.kind === 'code') return [hidden('an interpreter runs code that is not analysed')];
  if (read.kind === 'nothing') return [];
  if (read.kind === 'input') {
    const isFed = isPiped || redirections.some(({ operator }) => operator.startsWith('<'));
    return [hidden(isFed ? 'an interpreter runs what it reads' : 'an interpreter would run what it reads')];
  }
  return read.files.every(isKnownFile)
    ? []
    : [dynamic('the file that an interpreter would run is not known')];
};
