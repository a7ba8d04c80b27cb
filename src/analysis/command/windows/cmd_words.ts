import type { Word } from '../analysis.ts';
import { type Cell, CMD_BLANKS, toText } from './cmd_cells.ts';
import { addLiteral, addPiece, beginWord, finishWord, type WordDraft } from './word_draft.ts';

/** Commands of cmd itself. They split their arguments their own way, and a name may run into them: `del/s`, `cd\`. */
const INTERNAL_COMMANDS = new Set(
  (
    'assoc break call cd chdir cls color copy date del dir dpath echo endlocal erase exit for ftype goto if md mkdir ' +
    'mklink move path pause popd prompt pushd rd rem ren rename rmdir set setlocal shift start time title type ver ' +
    'verify vol'
  ).split(' '),
);
const INTERNAL_NAME = /^([a-z]+)(?:[.:\\+[\]("/]|$)/i;
const PROGRAM_FILE = /^[a-z]+\.(?:exe|com|bat|cmd)$/i;

/** A name that cmd would cut at its slash, and so a program other than the one written. */
const CUT_PATH = /[:\\.]/;

export interface CmdWords {
  words: Word[];
  /** Whether the name is the part of a path before a `/`. */
  isCutPath: boolean;
}

/**
 * The words of a command: the name as cmd takes it, then the arguments as the one who gets them splits them. Commands
 * of cmd itself split at blanks, commas, semicolons and equals signs; a program splits by the rules of the Microsoft C
 * runtime ("Parsing C command-line arguments": `\"` and `""` in quotes are a quote).
 */
export function splitCmdWords(cells: readonly Cell[], source: string): CmdWords {
  const start = cells.findIndex(({ text, variable }) => variable !== null || !CMD_BLANKS.includes(text));
  if (start === -1) return { words: [], isCutPath: false };
  const { end, isInternal } = findNameEnd(cells, start);
  const name = readWord(cells.slice(start, end), source);
  const rest = cells.slice(end);
  const isCutPath = rest[0]?.text === '/' && !rest[0].guarded && CUT_PATH.test(name.text);
  return {
    words: [name, ...(isInternal ? splitInternal(rest, source) : splitArguments(rest, source))],
    isCutPath,
  };
}

function findNameEnd(cells: readonly Cell[], start: number): { end: number; isInternal: boolean } {
  let end = start;
  let quoted = false;
  for (; end < cells.length; end++) {
    const cell = cells[end];
    if (cell === undefined) break;
    if (cell.text === '"') quoted = !quoted;
    const isStop = CMD_BLANKS.includes(cell.text) || (cell.text === '/' && end > start);
    if (isStop && !quoted && cell.variable === null) break;
  }
  const token = toText(cells.slice(start, end));
  const internal = PROGRAM_FILE.test(token) ? undefined : INTERNAL_NAME.exec(token)?.[1];
  if (internal === undefined || !INTERNAL_COMMANDS.has(internal.toLowerCase()))
    return { end, isInternal: false };
  return { end: start + internal.length, isInternal: true };
}

/** One word with its double quotes gone. */
export function readWord(cells: readonly Cell[], source: string): Word {
  const draft = beginWord();
  let quoted = false;
  for (const cell of cells) {
    if (cell.text === '"') {
      quoted = !quoted;
      addLiteral(draft, '', quoted);
    } else {
      addCell(draft, cell, quoted);
    }
  }
  return finishWord(draft, sliceSource(cells, source));
}

function addCell(draft: WordDraft, { text, variable }: Cell, quoted: boolean): void {
  if (variable === null) {
    addLiteral(draft, text, quoted);
  } else {
    addPiece(draft, { kind: 'variable', ...variable, text, quoted });
  }
}

function splitInternal(cells: readonly Cell[], source: string): Word[] {
  const words: Word[] = [];
  let quoted = false;
  let begin = 0;
  for (let index = 0; index <= cells.length; index++) {
    const cell = cells[index];
    if (cell?.text === '"') quoted = !quoted;
    const isEnd = cell === undefined || (!quoted && cell.variable === null && CMD_BLANKS.includes(cell.text));
    if (!isEnd) continue;
    if (index > begin) words.push(readWord(cells.slice(begin, index), source));
    begin = index + 1;
  }
  return words;
}

function splitArguments(cells: readonly Cell[], source: string): Word[] {
  const words: Word[] = [];
  let index = 0;
  while (index < cells.length) {
    if (isBlank(cells[index])) {
      index += 1;
      continue;
    }
    const { word, end } = readArgument(cells, index, source);
    words.push(word);
    index = end;
  }
  return words;
}

function isBlank(cell: Cell | undefined): boolean {
  return cell?.text === ' ' || cell?.text === '\t';
}

function readArgument(cells: readonly Cell[], start: number, source: string): { word: Word; end: number } {
  const draft = beginWord();
  let quoted = false;
  let index = start;
  while (index < cells.length && (quoted || !isBlank(cells[index]))) {
    const cell = cells[index];
    if (cell === undefined) break;
    if (cell.text === '\\') {
      const run = countBackslashes(cells, index);
      const isBeforeQuote = cells[index + run]?.text === '"';
      addLiteral(draft, '\\'.repeat(isBeforeQuote ? Math.floor(run / 2) : run), quoted);
      index += run;
      if (isBeforeQuote && run % 2 === 1) {
        addLiteral(draft, '"', quoted);
        index += 1;
      }
    } else if (cell.text === '"') {
      const isDoubled = quoted && cells[index + 1]?.text === '"';
      if (isDoubled) {
        addLiteral(draft, '"', true);
      } else {
        quoted = !quoted;
        addLiteral(draft, '', quoted);
      }
      index += isDoubled ? 2 : 1;
    } else {
      addCell(draft, cell, quoted);
      index += 1;
    }
  }
  return { word: finishWord(draft, sliceSource(cells.slice(start, index), source)), end: index };
}

function countBackslashes(cells: readonly Cell[], start: number): number {
  let run = 0;
  while (cells[start + run]?.text === '\\') run += 1;
  return run;
}

function sliceSource(cells: readonly Cell[], source: string): string {
  return source.slice(cells[0]?.start ?? 0, cells.at(-1)?.end ?? 0);
}
