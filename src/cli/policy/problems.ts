import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RulesProblem } from '../../core/rules.ts';
import { count, type Terminal, visible } from '../terminal.ts';

/** Characters of a source line that are shown around the column at fault. */
const LINE_SHOWN_MAX = 120;

/**
 * Prints problems of a policy folder: `file:line:column`, what is wrong, the line with a caret under the column, and
 * the remedy; at the end how many there are.
 */
export function printProblems(
  terminal: Terminal,
  directory: string,
  problems: readonly RulesProblem[],
): void {
  const lines = createLineReader(directory);
  for (const found of problems) terminal.print(formatProblem(terminal, directory, found, lines));
  terminal.print(terminal.paint('red', count(problems.length, 'problem')));
}

/** Problems as `--json` answers them. */
export function problemsToJson(problems: readonly RulesProblem[]) {
  return problems.map(({ policyId, source, line, column, pointer, message, help }) => ({
    policy_id: policyId,
    file: source,
    line,
    column,
    pointer,
    message,
    help,
  }));
}

type LineReader = (source: string, line: number) => string | undefined;

function formatProblem(
  terminal: Terminal,
  directory: string,
  found: RulesProblem,
  readLine: LineReader,
): string {
  const { source, line, column, policyId } = found;
  const file = source === null ? directory : join(directory, source);
  const place = [file, line, column].filter((part) => part !== null).join(':');
  const policy = policyId === null ? '' : `policy \`${policyId}\`: `;
  const head = `${terminal.paint('bold', visible(place))}: ${visible(policy + found.message)}`;
  const text = source === null || line === null ? undefined : readLine(source, line);
  const shown = text === undefined || column === null ? [] : pointAt(terminal, text, column);
  const help = found.help === null ? [] : [`    ${terminal.paint('cyan', 'help')}: ${visible(found.help)}`];
  return [head, ...shown, ...help].join('\n');
}

/** A source line, cut around the column when it is long, and a caret under the column. */
function pointAt(terminal: Terminal, text: string, column: number): string[] {
  const start = Math.max(0, column - 1 - LINE_SHOWN_MAX / 2);
  const before = (start > 0 ? '…' : '') + visible(text.slice(start, column - 1));
  const rest = text.slice(column - 1, start + LINE_SHOWN_MAX);
  const after = visible(rest) + (start + LINE_SHOWN_MAX < text.length ? '…' : '');
  return [`    ${before}${after}`, `    ${' '.repeat(before.length)}${terminal.paint('red', '^')}`];
}

/** Reads each file once; what cannot be read is shown without its line. */
function createLineReader(directory: string): LineReader {
  const files = new Map<string, string[]>();
  return (source, line) => {
    const lines = files.get(source) ?? readLines(join(directory, source));
    files.set(source, lines);
    return lines[line - 1];
  };
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch {
    return [];
  }
}
