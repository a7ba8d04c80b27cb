import { readFileSync } from 'node:fs';
import { analyseCommand } from '../../../src/analysis/command/analyse_command.ts';
import {
  type CommandAnalysis,
  listExecutables,
  type Segment,
  type Word,
} from '../../../src/analysis/command/analysis.ts';
import type { CommandCall } from '../../../src/core/command_call.ts';

export function callOf(command: string, more: Partial<CommandCall> = {}): CommandCall {
  return { command, argv: null, cwd: null, env: {}, resolvedPaths: null, fileDigests: {}, ...more };
}

export function analyse(command: string, more: Partial<CommandCall> = {}): CommandAnalysis {
  return analyseCommand(callOf(command, more));
}

/** A word after quote removal, expansions as written: what bash gives with all expansions off. */
export function unquotedText({ value, pieces }: Word): string {
  return value ?? pieces.map((piece) => (piece.kind === 'tilde' ? `~${piece.user}` : piece.text)).join('');
}

export function executables(analysis: CommandAnalysis): string[] {
  return listExecutables(analysis).map(unquotedText);
}

/** The segments as nested arrays of words, unknown ones with a `?` before them. */
export function outline(segments: readonly Segment[]): unknown[] {
  return segments.map(({ words, inner }) => {
    const line = words.map(({ value, text }) => value ?? `?${text}`).join(' ');
    return inner.length === 0 ? line : [line, ...outline(inner)];
  });
}

/** The cases of a file of vectors. */
export function vectorCases<Case>(file: string): Case[] {
  const url = new URL(`../../vectors/shell/${file}`, import.meta.url);
  return (JSON.parse(readFileSync(url, 'utf8')) as { cases: Case[] }).cases;
}

interface Disagreement {
  file: string;
  input: string;
  reason: string;
}

const DISAGREEMENTS = JSON.parse(
  readFileSync(new URL('./disagreements.json', import.meta.url), 'utf8'),
) as Disagreement[];

/**
 * The inputs of a file that disagree, less those listed with a reason, and the listed ones that agree again: both
 * must be none.
 */
export function unexplained(
  file: string,
  disagreeing: readonly string[],
): { new: string[]; settled: string[] } {
  const listed = DISAGREEMENTS.filter((entry) => entry.file === file).map(({ input }) => input);
  return {
    new: disagreeing.filter((input) => !listed.includes(input)),
    settled: listed.filter((input) => !disagreeing.includes(input)),
  };
}
