import { type CommandAnalysis, listSegments, type Segment, type Word } from './analysis.ts';
import { commandName } from './command_name.ts';
import { interpreterNamed, readInterpreterArguments } from './unwrap/interpreters.ts';
import { readAwkArguments } from './unwrap/open_awk.ts';
import { readMakeFiles } from './unwrap/open_make.ts';
import { readSedArguments } from './unwrap/open_sed.ts';
import { readShellArguments } from './unwrap/open_shell.ts';
import { readPowerShellArguments } from './unwrap/open_windows.ts';
import { AWKS, FOREIGN_SHELLS, SEDS, SHELLS } from './unwrap/openers.ts';

/**
 * The words that name files which an interpreter or a shell would run: `bash deploy.sh`, `python x.py`, `. f`,
 * `make -f F`, `sh < f`. In the analyser's order; a word may have no value. An executable is none of them.
 */
export function listScriptFiles({ segments }: CommandAnalysis): Word[] {
  return listSegments(segments).flatMap(scriptFiles);
}

function scriptFiles({ words, redirections }: Segment): Word[] {
  const name = commandName(words[0]?.value ?? '');
  if (SHELLS.has(name)) return [...shellFiles(words), ...inputFiles(redirections)];
  if (name === '.' || name === 'source')
    return words
      .slice(1)
      .filter(({ value }) => value !== '--')
      .slice(0, 1);
  if (name === 'powershell' || name === 'pwsh') {
    const read = readPowerShellArguments(words, name === 'pwsh');
    return read?.kind === 'file' ? [read.word] : [];
  }
  if (FOREIGN_SHELLS.has(name) && name !== 'cmd')
    return words.slice(1, 2).filter(({ value }) => value?.[0] !== '-');
  if (AWKS.has(name)) return readAwkArguments(words)?.files ?? [];
  if (SEDS.has(name)) return readSedArguments(words)?.files ?? [];
  if (name === 'make' || name === 'gmake') return readMakeFiles(words);
  const interpreter = interpreterNamed(name);
  if (interpreter === undefined) return [];
  const read = readInterpreterArguments(interpreter, words);
  return read?.kind === 'files' ? read.files : inputFiles(redirections);
}

function shellFiles(words: readonly Word[]): Word[] {
  const shell = readShellArguments(words);
  if (shell === null) return [];
  return [...shell.startFiles, ...(shell.script === null ? [] : [shell.script])];
}

/** Files that are read as the standard input. */
function inputFiles(redirections: Segment['redirections']): Word[] {
  return redirections.flatMap(({ operator, target }) =>
    operator === '<' && target !== null ? [target] : [],
  );
}
