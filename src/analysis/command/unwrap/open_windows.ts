import type { CommandLanguage, Word } from '../analysis.ts';
import { decodeEncodedCommand } from '../windows/encoded_command.ts';
import { unknownCommand } from './open_wrapper.ts';
import { dynamic, hidden, type Opener, type Outcome, runUnknown, runWords } from './outcome.ts';
import { isOneWord, likelyText, valuesOf } from './word_tools.ts';

/** What each parameter of `powershell` and `pwsh` takes; any beginning of a name that fits stands for it. */
const PARAMETERS: readonly (readonly [
  name: string,
  takes: 'flag' | 'value' | 'command' | 'encoded' | 'file',
])[] = [
  ['command', 'command'],
  ['c', 'command'],
  ['commandwithargs', 'command'],
  ['cwa', 'command'],
  ['encodedcommand', 'encoded'],
  ['ec', 'encoded'],
  ['encodedarguments', 'value'],
  ['ea', 'value'],
  ['executionpolicy', 'value'],
  ['ep', 'value'],
  ['ex', 'value'],
  ['file', 'file'],
  ['noprofile', 'flag'],
  ['nologo', 'flag'],
  ['noexit', 'flag'],
  ['noninteractive', 'flag'],
  ['noprofileloadtime', 'flag'],
  ['nop', 'flag'],
  ['noni', 'flag'],
  ['interactive', 'flag'],
  ['login', 'flag'],
  ['mta', 'flag'],
  ['sta', 'flag'],
  ['windowstyle', 'value'],
  ['w', 'value'],
  ['workingdirectory', 'value'],
  ['wd', 'value'],
  ['wo', 'value'],
  ['inputformat', 'value'],
  ['if', 'value'],
  ['outputformat', 'value'],
  ['of', 'value'],
  ['o', 'value'],
  ['configurationname', 'value'],
  ['configurationfile', 'value'],
  ['custompipename', 'value'],
  ['settingsfile', 'value'],
  ['settings', 'value'],
  ['psconsolefile', 'value'],
  ['version', 'value'],
];

export type PowerShellArguments =
  | { kind: 'command'; words: readonly Word[] }
  | { kind: 'encoded'; word: Word }
  | { kind: 'file'; word: Word }
  | { kind: 'input' };

/** The arguments of `powershell` or `pwsh`; null when a parameter is not known. Without a name, `pwsh` takes a file. */
export function readPowerShellArguments(words: readonly Word[], isCore: boolean): PowerShellArguments | null {
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    if (word.value === null) return isOneWord(word) ? { kind: 'file', word } : null;
    if (word.value === '-') return { kind: 'input' };
    const match = /^(?:--?|\/|[\u2013\u2014\u2015])([A-Za-z]+)$/.exec(word.value);
    if (match?.[1] === undefined) {
      if (/^-/.test(word.value)) return null;
      return isCore ? { kind: 'file', word } : { kind: 'command', words: words.slice(at) };
    }
    const takes = parameterNamed(match[1].toLowerCase());
    if (takes === undefined) return null;
    if (takes === 'flag') continue;
    const value = words[at + 1];
    if (takes === 'command') return { kind: 'command', words: words.slice(at + 1) };
    if (value === undefined) return null;
    if (takes !== 'value') return { kind: takes, word: value };
    at += 1;
  }
  return { kind: 'input' };
}

function parameterNamed(name: string): (typeof PARAMETERS)[number][1] | undefined {
  const exact = PARAMETERS.find(([known]) => known === name);
  return (exact ?? PARAMETERS.find(([known]) => known.startsWith(name)))?.[1];
}

/** `powershell -Command …`, `-EncodedCommand …`: Windows joins the words by blanks. */
export const openPowerShell =
  (isCore: boolean): Opener =>
  ({ words, segment }) => {
    const read = readPowerShellArguments(words, isCore);
    if (read === null) return [dynamic('a parameter of PowerShell is not known')];
    if (read.kind === 'input') return [hidden('PowerShell would run what it reads')];
    if (read.kind === 'file')
      return read.word.value === null ? [dynamic('the file that PowerShell would run is not known')] : [];
    if (read.kind === 'encoded') {
      const text = read.word.value === null ? null : decodeEncodedCommand(read.word.value);
      return text === null
        ? [hidden('an encoded command cannot be decoded')]
        : [{ kind: 'text', language: 'powershell', text }];
    }
    if (valuesOf(read.words)?.join(' ') === '-') return [hidden('PowerShell would run what it reads')];
    return runText(read.words, 'powershell', segment.language);
  };

/** Words that a shell of Windows reads again. */
function runText(words: readonly Word[], language: CommandLanguage, from: CommandLanguage): Outcome[] {
  const values = valuesOf(words);
  if (values === null) {
    const text: Outcome = { kind: 'text', language, text: words.map(likelyText).join(' ') };
    return [dynamic('the text that a shell would run is not known'), text];
  }
  // A program of Windows gets one text: the quotes around words with blanks are in it again.
  const isRaw = from === 'cmd' && words.length > 1;
  const text = isRaw
    ? words.map((word) => word.text).join(' ')
    : words.length === 1
      ? (values[0] ?? '')
      : values.map((value) => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '\\"')}"` : value)).join(' ');
  return text.trim() === '' ? [] : [{ kind: 'text', language, text }];
}

/** `cmd /c text`, with `/s`, `/q`, `/v:on` and such before it, joined or not; `//c` where MSYS rewrites paths. */
export const openCmd: Opener = ({ words, segment }) => {
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    if (word?.value === null || word === undefined) return [unknownCommand()];
    const match = /^\/{1,2}(?:[sqaud]|[aefv]:\w+|t:[0-9a-f]+)*\/?([ckr])(.*)$/is.exec(word.value);
    if (match !== null) {
      const attached = match[2] ?? '';
      const rest = words.slice(at + 1);
      const first: Word[] = attached === '' ? [] : [{ text: attached, value: attached, pieces: [] }];
      return runText([...first, ...rest], 'cmd', segment.language);
    }
    if (!word.value.startsWith('/')) break;
  }
  return words.length > 1 && words.slice(1).some(({ value }) => value === '/?')
    ? []
    : [hidden('cmd would run what it reads')];
};

/** `forfiles /c "command"`, in which `@path` and its like are put in place. */
export const openForfiles: Opener = ({ words, segment }) => {
  const at = words.findIndex(({ value }) => /^\/c$/i.test(value ?? ''));
  const command = words[at + 1];
  if (at === -1 || command === undefined) return [];
  return runText([command], 'cmd', segment.language);
};

/** `Start-Process name arguments`: `-FilePath` and `-ArgumentList` by name or by place. */
export const openStartProcess: Opener = ({ words }) => {
  const operands: Word[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    const value = word?.value ?? null;
    if (word === undefined) break;
    if (value === null || !value.startsWith('-')) operands.push(word);
    else if (/^-(?:work|verb|wind|red|cred|env)/i.test(value)) at += 1;
    else if (!/^-(?:f|a|w|n|p|l|u)/i.test(value)) return [unknownCommand()];
  }
  return operands.length === 0 ? [] : [runWords(operands)];
};

/** `wsl command`, `wsl -e command`: Linux reads it. */
export const openWsl: Opener = ({ words }) => {
  let at = 1;
  for (let value = words[at]?.value; value?.startsWith('-') === true; value = words[at]?.value) {
    at += 1;
    if (/^(?:-e|--exec|--)$/.test(value)) break;
    if (/^(?:-d|--distribution|-u|--user|--cd|--shell-type)$/.test(value)) at += 1;
    else if (/^--(?:list|status|shutdown|update|install|terminate|version|help)$|^-l$|^-t$/.test(value))
      return [];
    else if (!/^(?:~|--system)$/.test(value)) return [unknownCommand()];
  }
  const rest = words.slice(at);
  const values = valuesOf(rest);
  if (rest.length === 0) return [hidden('a shell would read commands from its input')];
  if (values === null) return runUnknown(rest, unknownCommand());
  return [{ kind: 'text', language: 'posix', text: values.join(' ') }];
};
