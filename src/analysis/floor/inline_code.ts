import type { Command } from './command.ts';
import { decodeEscapes } from './decode_escapes.ts';
import { ruleFor } from './delete_rules.ts';
import { decodeBase64 } from './filter_text.ts';
import type { FloorRule } from './floor.ts';
import { holdsCodeBomb } from './fork_bomb.ts';
import { SOME, STAR } from './marks.ts';
import { couldBeRawDevice, placeOf } from './protected_paths.ts';

const INTERPRETER =
  /^(python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|luajit|tclsh|osascript|awk|gawk|mawk|nawk|Rscript|julia|groovy|scala|ipython)[\d.]*$/i;
/** Whether a name is that of an interpreter of another language than a shell's. */
export function isInterpreter(name: string): boolean {
  return INTERPRETER.test(name);
}

/** Whether a text names an interpreter anywhere. */
export function mentionsInterpreter(text: string): boolean {
  return /\b(?:python|pypy|perl|ruby|node|deno|bun|php|lua|tclsh|osascript)/i.test(text);
}

const CODE_OPTION = /^(-[a-zA-Z]*[ceErp]|--eval|--print|--execute|eval|exec)$/;

/** Program text that a command hands to an interpreter: in an argument, from a pipe or from a here-document. */
export function codeOf({ name, args, input }: Command): string[] {
  if (!isInterpreter(name)) return [];
  if (/awk$/.test(name)) return [...args];
  const codes = args.filter((_, index) => CODE_OPTION.test(args[index - 1] ?? ''));
  for (const arg of args) {
    const [, joined] = /^(?:-[eErc]|--eval=)([\s\S]+)$/.exec(arg) ?? [];
    if (joined !== undefined) codes.push(joined);
  }
  return input === null ? codes : [...codes, input];
}

/** A string of the program, and the text before it that says what is done with it. */
interface CodeString {
  text: string;
  before: string;
  quote: string;
  start: number;
  end: number;
}

/** How much of the text before a string is looked at. */
const LOOK_BACK = 64;

function listStrings(code: string): CodeString[] {
  const strings: CodeString[] = [];
  let at = 0;
  while (at < code.length) {
    const quote = code.charAt(at);
    if (quote !== '"' && quote !== "'" && quote !== '`') {
      at += 1;
      continue;
    }
    const tripled = quote !== '`' && code.startsWith(quote.repeat(3), at);
    const closer = tripled ? quote.repeat(3) : quote;
    let end = at + closer.length;
    while (end < code.length && !code.startsWith(closer, end)) end += code.charAt(end) === '\\' ? 2 : 1;
    const text = decodeEscapes(code.slice(at + closer.length, end));
    strings.push({ text, before: code.slice(Math.max(0, at - LOOK_BACK), at), quote, start: at, end });
    at = end + closer.length;
  }
  return strings;
}

/** The program with every string emptied. */
function withoutStrings(code: string, strings: readonly CodeString[]): string {
  const kept = strings.map(({ start }, index) => code.slice(strings[index - 1]?.end ?? 0, start + 1));
  return kept.join('') + code.slice(strings.at(-1)?.end ?? 0);
}

/** Calls that run their argument by a shell or as a program. */
const RUNS =
  /(?:system|popen\w*|exec\w*|spawn\w*|Popen|run|call|check_output|check_call|getoutput|getstatusoutput|shell_exec|passthru|proc_open|do shell script|sh|open3)\s{0,4}[([{ ]{0,4}\s{0,4}(?:b|r|f|u)?$/i;
const DELETES =
  /(?:rmtree|rm_rf|rm_r|remove_entry_secure|rmSync|rmdirSync|removeSync|emptyDirSync|rm|rmdir|rimraf|remove_tree|remove_dir_all|deltree|deleteDirectory|delete_recursively|delete_tree)\s{0,4}\(?\s{0,4}[\w.:]{0,40}\s{0,4}[([]{0,3}\s{0,4}(?:b|r|f|u)?$/;
const DELETES_HOME =
  /(?:rmtree|rm_rf|rm_r|rmSync|rmdirSync|removeSync|rimraf|remove_tree)\s{0,4}\(?\s{0,4}(?:os\.environ\W{1,3}HOME|os\.getenv\W{1,3}HOME|ENV\W{1,3}HOME|process\.env\.HOME|(?:pathlib\.)?Path\.home|(?:require\W{1,3}os\W{1,3}|os\.)homedir|Dir\.home|\$ENV\{\W?HOME)/;
const OPENS = /(?:open|fopen|File\.open|os\.open)\s{0,4}\(?\s{0,4}(?:\w{1,20},\s{0,4})?(?:b|r|f|u)?$/;
const WRITES =
  /(?:writeFile\w{0,8}|createWriteStream|appendFile\w{0,8}|openSync|file_put_contents|File\.write|IO\.write|binwrite|write_bytes|write_text)\s{0,4}\(?\s{0,4}$/;
const KILLS_ALL = /\bkill\b\s{0,4}\(?\s{0,4}(?:-1\s{0,4},|['":]?\w{1,8}['"]?\s{0,4}(?:,|=>)\s{0,4}-1\b)/;
const ASKS_TO_STOP = /\bto (?:shut down|restart)\b/;

const HOME_AS_TEXT = /^~(?=\/|$)/;

/** A string as a path pattern: the tilde by name, and globs where the language expands them. */
function toPath(text: string, command: Command): string {
  return text.replace(HOME_AS_TEXT, command.ground.home ?? `/home/${SOME}`).replaceAll('*', STAR);
}

/** The strings of a list that starts at this one: the words of a program and its arguments. */
function listFrom(strings: readonly CodeString[], index: number, code: string): string {
  const words: string[] = [];
  for (let at = index; at < strings.length && words.length < LIST_MAX; at += 1) {
    const one = strings[at];
    const previous = strings[at - 1];
    if (one === undefined) break;
    const gap = at === index ? ',' : code.slice((previous?.end ?? 0) + 1, (previous?.end ?? 0) + 12);
    if (!/^\s{0,4},|^\s{0,4}\], ?\[/.test(gap)) break;
    words.push(one.text);
  }
  return words.join(' ');
}

const LIST_MAX = 16;

/** A rule that program text breaks, and shell text within it that is to be looked at in turn. */
interface CodeFindings {
  rules: FloorRule[];
  scripts: string[];
  codes: string[];
}

function judgeString(
  strings: readonly CodeString[],
  index: number,
  code: string,
  command: Command,
): CodeFindings {
  const findings: CodeFindings = { rules: [], scripts: [], codes: [] };
  const one = strings[index];
  if (one === undefined) return findings;
  const path = toPath(one.text, command);
  const isBacktick = one.quote === '`' && !/^(node|deno|bun)/.test(command.name);
  if (isBacktick || RUNS.test(one.before)) {
    findings.scripts.push(one.text, listFrom(strings, index, code));
  }
  if (/b64decode\s{0,4}\(\s{0,4}b?$|decode64\s{0,4}\(\s{0,4}$|atob\s{0,4}\(\s{0,4}$/.test(one.before)) {
    const decoded = decodeBase64(one.text);
    if (decoded !== null) findings.codes.push(decoded);
    if (decoded !== null && /system|popen|exec|subprocess/.test(code)) findings.scripts.push(decoded);
  }
  const place = DELETES.test(one.before) ? placeOf(path, command.ground) : null;
  if (place !== null) findings.rules.push(ruleFor(place));
  const device = couldBeRawDevice(path.replace(/^\s*\+?[<>]{1,2}\s*/, ''), command.ground);
  const mode = strings[index + 1]?.text ?? '';
  const opensToWrite = OPENS.test(one.before) && (/^[wax]|\+/.test(mode) || one.text.trim().startsWith('>'));
  if (device && (WRITES.test(one.before) || opensToWrite)) findings.rules.push('raw-device-write');
  return findings;
}

/**
 * What program text in another language does that is plain from its strings: it runs a command, deletes a path, opens
 * a device. It is no reading of the language, only a look for what is written out.
 */
export function judgeCode(code: string, command: Command): CodeFindings {
  const strings = listStrings(code);
  const findings: CodeFindings = { rules: [], scripts: [], codes: [] };
  if (holdsCodeBomb(withoutStrings(code, strings))) findings.rules.push('fork-bomb');
  if (KILLS_ALL.test(code)) findings.rules.push('kill-everything');
  if (DELETES_HOME.test(code)) findings.rules.push('recursive-delete-of-home');
  if (/^osascript$/.test(command.name) && ASKS_TO_STOP.test(code)) findings.rules.push('shutdown');
  for (const index of strings.keys()) {
    const { rules, scripts, codes } = judgeString(strings, index, code, command);
    findings.rules.push(...rules);
    findings.scripts.push(...scripts);
    findings.codes.push(...codes);
  }
  return findings;
}
