import type { PolicySet } from '../../core/policy.ts';
import { openCaseSet } from '../../policy/case_set.ts';
import type { CallOutcome, CaseResult } from '../../policy/cases.ts';
import { findUncovered, findUnknownPolicies, runApproverCase, runCallCase } from '../../policy/cases.ts';
import { formatOutcome } from '../../policy/format_outcome.ts';
import { type LoadedCases, loadCases } from '../../policy/load_cases.ts';
import { PolicySetError } from '../../policy/policy_set_error.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { count, type Terminal, toJsonText, visible } from '../terminal.ts';
import { FolderRefused, findPolicyDirectory, type OpenedFolder, openFolder } from './folder.ts';
import { listFolderFiles } from './folder_files.ts';

const USAGE = 'aegis policy test [DIR] [--no-coverage] [--json]';

interface Report {
  total: number;
  failed: (CaseResult & { file: string })[];
  /** Policies that cases name and the folder does not have. */
  unknown: string[];
  /** Null when it was not asked for. */
  uncovered: { undecided: string[]; untwinned: string[] } | null;
}

/** `aegis policy test`: whether the cases beside the policies come out as they say, and every policy has some. */
export const test: Command = {
  usage: USAGE,
  summary: 'runs the cases beside the policies; 1 when one fails, or a policy has no case or no twin',
  run: async (args, terminal) => {
    const options = { json: { type: 'boolean' }, 'no-coverage': { type: 'boolean' } } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 0, max: 1 });
    const folder = await openFolder(findPolicyDirectory(positionals[0]));
    const report = runCases(folder, await openCases(folder.directory), values['no-coverage'] !== true);
    const passed = isPassed(report);
    if (values.json === true) terminal.print(toJsonText(reportToJson(folder, report)));
    else printReport(terminal, folder, report);
    return passed ? 0 : 1;
  },
};

/** The cases of a folder. @throws FolderRefused, OperatorError, the file system's error. */
export async function openCases(directory: string): Promise<LoadedCases[]> {
  await listFolderFiles(directory, 'cases', '.json');
  try {
    return await loadCases(directory);
  } catch (error) {
    if (error instanceof PolicySetError) throw new FolderRefused(directory, error.problems);
    throw error;
  }
}

function runCases(folder: OpenedFolder, files: LoadedCases[], withCoverage: boolean): Report {
  const results = files.flatMap((file) => {
    const set = openSet(folder, file);
    return [
      ...file.cases.map((one) => runCallCase(set, one)),
      ...file.approverCases.map((one) => runApproverCase(set, one)),
    ].map((result) => ({ ...result, file: file.source }));
  });
  const ids = Object.keys(folder.base.policies);
  return {
    total: results.length,
    failed: results.filter(({ passed }) => !passed),
    unknown: findUnknownPolicies(ids, files),
    uncovered: withCoverage ? findUncovered(ids, files) : null,
  };
}

/** The set that a file's cases are about. @throws FolderRefused when what the file brings does not fit the folder. */
function openSet({ directory, set, base }: OpenedFolder, file: LoadedCases): PolicySet {
  try {
    return openCaseSet(set, base, file);
  } catch (error) {
    if (!(error instanceof PolicySetError)) throw error;
    throw new FolderRefused(
      directory,
      error.problems.map((found) => ({ ...found, source: found.source ?? file.source })),
    );
  }
}

/** A run without a case shows nothing, and so does not pass. */
function isPassed({ total, failed, unknown, uncovered }: Report): boolean {
  const lacking = [...(uncovered?.undecided ?? []), ...(uncovered?.untwinned ?? [])];
  return total > 0 && failed.length + unknown.length + lacking.length === 0;
}

function reportToJson({ directory, set }: OpenedFolder, report: Report) {
  return {
    passed: isPassed(report),
    directory,
    revision: set.revision,
    total: report.total,
    failed: report.failed.map(({ file, name, expected, actual, reason, faults }) => ({
      file,
      name,
      expected,
      actual,
      reason,
      faults,
    })),
    unknown_policies: report.unknown,
    uncovered: report.uncovered,
  };
}

function printReport(terminal: Terminal, { directory }: OpenedFolder, report: Report): void {
  for (const one of report.failed) {
    terminal.print(`${terminal.paint('red', 'failed')}: ${visible(`${one.file}: ${one.name}`)}`);
    terminal.print(`    expected  ${describeResult(one.expected)}`);
    terminal.print(`    actual    ${describeResult(one.actual)}`);
    if (one.reason !== '') terminal.print(`    reason    ${visible(one.reason)}`);
    for (const fault of one.faults) terminal.print(`    but       ${visible(fault)}`);
  }
  printIds(terminal, 'cases name policies that are not there', report.unknown);
  printIds(terminal, 'policies that no case shows deciding', report.uncovered?.undecided ?? []);
  printIds(terminal, 'policies without a twin that they must not decide', report.uncovered?.untwinned ?? []);
  if (report.total === 0) terminal.print(`there is no case in ${visible(directory)}/cases`);
  const failed = report.failed.length;
  const summary = `${count(report.total, 'case')}: ${report.total - failed} passed, ${failed} failed`;
  terminal.print(terminal.paint(isPassed(report) ? 'green' : 'red', summary));
}

function describeResult(result: CallOutcome | string): string {
  return visible(typeof result === 'string' ? result : formatOutcome(result));
}

function printIds(terminal: Terminal, title: string, ids: readonly string[]): void {
  if (ids.length > 0) terminal.print(`${title}:\n${ids.map((id) => `    ${visible(id)}`).join('\n')}`);
}
