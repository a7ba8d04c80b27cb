import type { Word } from '../analysis.ts';
import { dynamic, hidden, type Opener, type Opening, type Outcome, runJoined } from './outcome.ts';
import { printedText } from './printed_text.ts';
import { isKnownFile } from './word_tools.ts';

const LETTERS = 'abefghiklmnprstuvxBCDEHPTI';
const LONG_FLAGS = new Set([
  ...['--login', '--norc', '--noprofile', '--posix', '--restricted', '--verbose', '--noediting', '--debug'],
  ...['--no-rcs', '--emacs', '--vi', '--interactive', '--privileged'],
]);
const LONG_ENDS = new Set(['--version', '--help', '--dump-strings', '--dump-po-strings', '--rpm-requires']);
const LONG_VALUES = new Set(['--rcfile', '--init-file', '--emulate']);

/** How a shell was started. */
export interface ShellArguments {
  /** The text after `-c`; null when its words hold none. */
  command: Word | null;
  /** The file that it reads; null for its input. */
  script: Word | null;
  /** Files read beforehand. */
  startFiles: Word[];
  runsNothing: boolean;
}

/** Reads the arguments of a shell (POSIX XCU sh; bash, dash, ksh and zsh); null when an option is not known. */
export function readShellArguments(words: readonly Word[]): ShellArguments | null {
  const startFiles: Word[] = [];
  let takesCommand = false;
  let readsInput = false;
  let at = 1;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) break;
    at += 1;
    if (value === '--' || value === '-') break;
    if (LONG_ENDS.has(value)) return { command: null, script: null, startFiles, runsNothing: true };
    if (LONG_FLAGS.has(value)) continue;
    if (LONG_VALUES.has(value)) {
      const file = words[at];
      if (file === undefined) return null;
      if (value !== '--emulate') startFiles.push(file);
      at += 1;
    } else if (/^[-+][A-Za-z]/.test(value)) {
      const letters = readLetters(value.slice(1));
      if (letters === null) return null;
      takesCommand ||= letters.command;
      readsInput ||= letters.input;
      at += letters.values;
    } else if (value.startsWith('-') && value !== '') {
      return null;
    } else {
      at -= 1;
      break;
    }
  }
  const operand = words[at] ?? null;
  if (takesCommand) return { command: operand, script: null, startFiles, runsNothing: operand === null };
  return { command: null, script: readsInput ? null : operand, startFiles, runsNothing: false };
}

/** Letters of one word: each `o` and `O` takes a word after it. */
function readLetters(letters: string): { command: boolean; input: boolean; values: number } | null {
  let values = 0;
  for (const letter of letters) {
    if (letter === 'o' || letter === 'O') values += 1;
    else if (letter !== 'c' && !LETTERS.includes(letter)) return null;
  }
  return { command: letters.includes('c'), input: letters.includes('s'), values };
}

/** `sh -c text`, and what a shell reads from its input where that is known. */
export const openShell: Opener = (opening) => {
  const shell = readShellArguments(opening.words);
  if (shell === null) return [dynamic('an option of a shell is not known')];
  if (shell.runsNothing) return [];
  if (shell.startFiles.some((file) => !isKnownFile(file)))
    return [dynamic('the file that a shell reads is not known')];
  if (shell.command !== null) return runJoined([shell.command]);
  if (shell.script === null) return openInput(opening);
  if (isKnownFile(shell.script)) return [];
  return [dynamic('the file that a shell would run is not known')];
};

function runText(text: string): Outcome {
  return { kind: 'text', language: 'posix', text };
}

/** What a shell without a file reads: a here-document, a file, or the output of a command that only prints. */
export function openInput({ redirections, pipedFrom, isPiped }: Opening): Outcome[] {
  const inputs = redirections.filter(({ operator }) => /^<(?!&|>)/.test(operator));
  const [input] = inputs;
  if (input !== undefined && inputs.length === 1) {
    if (input.body !== null) return [runText(input.body)];
    if (input.operator === '<' && input.target !== null && isKnownFile(input.target)) return [];
    return [dynamic('what a shell would read from its input is not known')];
  }
  const printed = isPiped && inputs.length === 0 ? printedText(pipedFrom) : null;
  const reads = hidden('a shell would run what it reads from its input');
  return printed === null ? [reads] : [reads, runText(printed)];
}

/** A shell of another language: a file it may run, a text is not read. */
export const openForeignShell: Opener = ({ words }) => {
  const [first] = words.slice(1);
  if (/^--?(?:version|v|help|h)$/.test(first?.value ?? '')) return [];
  const isFile = first !== undefined && isKnownFile(first) && !first.value?.startsWith('-');
  return isFile ? [] : [hidden('a shell of another language runs what is not analysed')];
};
