import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../core/operator_error.ts';
import type { RulesProblem } from '../../core/rules.ts';
import { formatPolicyFile } from '../../policy/format_policies.ts';
import { problem } from '../../policy/policy_set_error.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { type Terminal, toJsonText, visible } from '../terminal.ts';
import { replaceFile } from '../write_file.ts';
import { findPolicyDirectory } from './folder.ts';
import { type FolderFile, listFolderFiles } from './folder_files.ts';
import { printProblems, problemsToJson } from './problems.ts';

const USAGE = 'aegis policy fmt [DIR] [--check] [--json]';

interface Formatted {
  /** Files whose form is another, by their names in the folder. */
  changed: string[];
  problems: RulesProblem[];
}

/** `aegis policy fmt`: puts every policy file into Cedar's own form; never changes what one says. */
export const fmt: Command = {
  usage: USAGE,
  summary:
    "writes *.cedar in Cedar's own form, comments kept; 1 for a file that cannot be, or with --check has another",
  run: async (args, terminal) => {
    const options = { json: { type: 'boolean' }, check: { type: 'boolean' } } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 0, max: 1 });
    const directory = findPolicyDirectory(positionals[0]);
    const files = await listFolderFiles(directory, '', '.cedar');
    if (files.length === 0) throw new OperatorError(`no *.cedar file in \`${visible(directory)}\``);
    const isCheck = values.check === true;
    const formatted = await formatFiles(files, isCheck);
    if (values.json === true) {
      const { changed, problems } = formatted;
      terminal.print(toJsonText({ directory, check: isCheck, changed, problems: problemsToJson(problems) }));
    } else {
      printFormatted(terminal, directory, formatted, isCheck);
    }
    const isFine = formatted.problems.length === 0 && !(isCheck && formatted.changed.length > 0);
    return isFine ? 0 : 1;
  },
};

/** A file that is refused is left as it is; the others are written all the same. */
async function formatFiles(files: readonly FolderFile[], isCheck: boolean): Promise<Formatted> {
  const formatted: Formatted = { changed: [], problems: [] };
  for (const { path, source } of files) {
    const text = decode(await readFile(path));
    if (text === undefined) {
      formatted.problems.push(problem('the file is not UTF-8', 'Save it as UTF-8.', { source }));
      continue;
    }
    const file = formatPolicyFile(text, source);
    if (file.kind === 'refused') {
      formatted.problems.push(...file.problems);
    } else if (file.text !== text) {
      formatted.changed.push(source);
      if (!isCheck) await replaceFile(path, file.text);
    }
  }
  return formatted;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function printFormatted(
  terminal: Terminal,
  directory: string,
  { changed, problems }: Formatted,
  isCheck: boolean,
): void {
  for (const source of changed) terminal.print(visible(join(directory, source)));
  if (isCheck && changed.length > 0) {
    terminal.print(`${changed.length} to format. Run \`aegis policy fmt\``);
  }
  if (problems.length > 0) printProblems(terminal, directory, problems);
}
