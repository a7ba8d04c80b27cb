import type { Word } from '../analysis.ts';
import { openInput } from './open_shell.ts';
import { unknownCommand } from './open_wrapper.ts';
import { type OptionSpec, optionSpec, readOptions } from './options.ts';
import { hidden, type Opener, type Outcome, runJoined, runUnknown, runWords } from './outcome.ts';
import { isOneWord, literalWord } from './word_tools.ts';

function runTextWord(word: Word | null): Outcome[] {
  return word === null ? [] : runJoined([word]);
}

const INTERACTIVE = 'a shell would read commands from its input';

const WATCH = optionSpec(
  'bcCd::eghn:pq:rs:tvwxf',
  `beep color no-color differences? errexit chgexit equexit= interval= precise no-rerun no-title no-wrap exec
   follow shotsdir= help version`.replace(/\s+/g, ' '),
);

/** `watch command`: through a shell, except with `-x`. */
export const openWatch: Opener = ({ words }) => {
  const options = readOptions(words, 1, WATCH);
  if (options === null) return runUnknown(words.slice(1), unknownCommand());
  const rest = words.slice(options.at);
  const runsDirectly = options.seen.some(([name]) => name === 'x' || name === 'exec');
  if (rest.length === 0) return [];
  return runsDirectly ? [runWords(rest)] : runJoined(rest);
};

const SSH = optionSpec('46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:MmNnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy');
const SSH_NOTHING = new Set(['G', 'N', 'O', 'Q', 'V', 'W', 's']);
/** Options of the configuration that run or load nothing here; the others may. */
const SSH_HARMLESS = new RegExp(
  '^\\s*(?:stricthostkeychecking|userknownhostsfile|globalknownhostsfile|connecttimeout|connectionattempts|batchmode|' +
    'loglevel|serveraliveinterval|serveralivecountmax|identitiesonly|identityfile|identityagent|port|user|hostname|' +
    'passwordauthentication|pubkeyauthentication|kbdinteractiveauthentication|preferredauthentications|' +
    'compression|tcpkeepalive|forwardagent|forwardx11|requesttty|controlmaster|controlpath|controlpersist|' +
    'addressfamily|bindaddress|proxyjump|hostkeyalgorithms|pubkeyacceptedalgorithms|kexalgorithms|ciphers|macs|' +
    'checkhostip|updatehostkeys|visualhostkey|exitonforwardfailure|numberofpasswordprompts|sendenv|' +
    'clearallforwardings|localforward|remoteforward|dynamicforward|gssapiauthentication)\\s*[\\s=]',
  'i',
);

/** `ssh host command`: a shell on the host reads it. Options may stand after the host too. */
export const openSsh: Opener = (opening) => {
  const { words } = opening;
  const before = readOptions(words, 1, SSH);
  const after = before === null ? null : readOptions(words, before.at + 1, SSH);
  if (before === null || after === null) return runUnknown(words.slice(1), unknownCommand());
  const seen = [...before.seen, ...after.seen];
  const isLocal = seen.some(
    ([name, value]) =>
      name === 'F' || name === 'I' || (name === 'o' && !SSH_HARMLESS.test(value?.value ?? '')),
  );
  const outcomes = isLocal ? [hidden('an option of `ssh` runs a command here')] : [];
  const host = words[before.at];
  if (host !== undefined && !isOneWord(host)) return [...outcomes, unknownCommand()];
  if (seen.some(([name]) => SSH_NOTHING.has(name)) || host === undefined) return outcomes;
  const rest = words.slice(after.at);
  return [...outcomes, ...(rest.length === 0 ? openInput(opening) : runJoined(rest))];
};

const SU_FLAGS = 'flmpPhV';
const SU_VALUES = 'gGsTwu';

/** `su - user -c text`, where options and operands mix; `runuser -u user command`. */
export const openSu: Opener = (opening) => {
  const { words } = opening;
  let command: Word | null = null;
  let user = false;
  const operands: Word[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at];
    const value = word?.value ?? null;
    if (word === undefined) break;
    const letter = value === null ? undefined : suOption(value);
    if (letter === undefined) {
      if (value?.startsWith('-') === true && value !== '-' && value !== '--')
        return runUnknown([], unknownCommand());
      if (value !== '--') operands.push(word);
    } else if (letter.takesValue) {
      const option = letter.attached ?? words[at + 1] ?? null;
      if (letter.attached === null) at += 1;
      if (letter.name === 'c') command = option;
      user ||= letter.name === 'u';
    }
  }
  if (command !== null) return runTextWord(command);
  if (user && operands.length > 0) return [runWords(operands)];
  return openInput(opening);
};

function suOption(value: string): { name: string; takesValue: boolean; attached: Word | null } | undefined {
  const long = /^--(command|session-command|user)(?:=(.*))?$/s.exec(value);
  if (long !== null) {
    const name = long[1] === 'user' ? 'u' : 'c';
    return { name, takesValue: true, attached: long[2] === undefined ? null : literalWord(long[2]) };
  }
  if (/^--(?:login|preserve-environment|fast|pty|help|version)$/.test(value)) {
    return { name: value, takesValue: false, attached: null };
  }
  if (!/^-[A-Za-z]/.test(value)) return undefined;
  for (let index = 1; index < value.length; index += 1) {
    const name = value.charAt(index);
    if (name === 'c' || SU_VALUES.includes(name)) {
      const attached = value.slice(index + 1);
      return { name, takesValue: true, attached: attached === '' ? null : literalWord(attached) };
    }
    if (!SU_FLAGS.includes(name)) return undefined;
  }
  return { name: value, takesValue: false, attached: null };
}

const SCRIPT = optionSpec(
  'aB:c:dE:eFfI:km:O:o:pqrT:t::hV',
  `append command= echo= flush force log-in= log-io= log-out= log-timing= logging-format= output-limit= quiet return
   timing? help version`.replace(/\s+/g, ' '),
);

/** `script -c text file`, and with BSD `script file command`. */
export const openScript: Opener = (opening) => {
  const options = readOptions(opening.words, 1, SCRIPT);
  const later = options === null ? null : readOptions(opening.words, options.at + 1, SCRIPT);
  if (options === null || later === null) return runUnknown(opening.words.slice(1), unknownCommand());
  const command = [...options.seen, ...later.seen].find(([name]) => name === 'c' || name === 'command');
  if (command !== undefined) return runTextWord(command[1]);
  const rest = opening.words.slice(later.at);
  return rest.length > 0 ? [runWords(rest)] : [hidden(INTERACTIVE)];
};

const FLOCK = optionSpec(
  'seEnow:xuFvhV'.replace('E', 'E:'),
  `shared exclusive unlock nonblock nb timeout= wait= close no-fork conflict-exit-code= command= verbose fcntl help
   version`.replace(/\s+/g, ' '),
);

/** `flock file command`, `flock file -c text`; with a number alone it locks a descriptor. */
export const openFlock: Opener = ({ words }) => {
  const options = readOptions(words, 1, FLOCK);
  const file = options === null ? undefined : words[options.at];
  if (options === null || (file !== undefined && !isOneWord(file))) {
    return runUnknown(words.slice(1), unknownCommand());
  }
  const rest = words.slice(options.at + 1);
  if (rest.length === 0) return [];
  if (/^(?:-c|--command)$/.test(rest[0]?.value ?? '')) return runJoined(rest.slice(1));
  return [runWords(rest)];
};

const PARALLEL: OptionSpec = optionSpec(
  'j:P:n:N:kuXmqrtvI:a:d:0L:s:x',
  `jobs= max-procs= keep-order ungroup group line-buffer halt= dry-run bar progress eta colsep= delimiter= null
   arg-file= max-args= max-replace-args= no-run-if-empty retries= timeout= joblog= resume quote tag verbose
   will-cite plus`.replace(/\s+/g, ' '),
);

/** GNU `parallel command ::: arguments`: a shell reads the command with the arguments, which are quoted, in it. */
export const openParallel: Opener = ({ words }) => {
  const options = readOptions(words, 1, PARALLEL);
  if (options === null) return runUnknown(words.slice(1), unknownCommand());
  const rest = words.slice(options.at);
  const end = rest.findIndex(({ value }) => /^:::/.test(value ?? ''));
  const command = end === -1 ? rest : rest.slice(0, end);
  if (command.length === 0) return [hidden('what is read or listed would run as commands')];
  // What is listed takes the place of these, in a name or a text too, or Perl runs what they hold.
  if (command.some(({ value }) => /[{}]/.test(value ?? ''))) {
    return runUnknown(command, hidden('`parallel` puts what it reads or lists into the command'));
  }
  return runJoined([...command, literalWord('"$@"')]);
};

const AT = optionSpec('bc:d:f:lmMq:r:t:u:vV');

/** `at` and `batch` read what runs later; with `-f` from a file, which is not bound as a script file is. */
export const openDeferred: Opener = (opening) => {
  const options = readOptions(opening.words, 1, AT);
  if (options === null) return [hidden('what runs later is not known')];
  const has = (letters: string): boolean => options.seen.some(([name]) => letters.includes(name));
  if (has('f')) return [hidden('what a file says would run later')];
  return has('lrdc') ? [] : openInput(opening);
};
