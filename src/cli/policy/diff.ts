import type { JsonValue } from '../../core/json.ts';
import type { ApproverDecision, PolicySet } from '../../core/policy.ts';
import type { CallCase } from '../../policy/case_file.ts';
import { openCaseSet } from '../../policy/case_set.ts';
import { type CallOutcome, decideCase, judgeCase, outcomeOf } from '../../policy/cases.ts';
import { formatOutcome } from '../../policy/format_outcome.ts';
import type { LoadedCases } from '../../policy/load_cases.ts';
import { PolicySetError } from '../../policy/policy_set_error.ts';
import { diffRules, type RulesDiff } from '../../policy/rules_diff.ts';
import { readArguments } from '../arguments.ts';
import type { Command } from '../command.ts';
import { count, type Terminal, toJsonText, visible, visibleLines } from '../terminal.ts';
import { findPolicyDirectory, type OpenedFolder, openFolder } from './folder.ts';
import { openCases } from './test.ts';

const USAGE = 'aegis policy diff DIR_A DIR_B [--exit-code] [--json]';

/** A case of either folder whose outcome differs, with both outcomes in words. */
interface MovedCase {
  file: string;
  name: string;
  from: string;
  to: string;
}

/** `aegis policy diff`: what differs between two folders, and what that does to the cases of both. */
export const diff: Command = {
  usage: USAGE,
  summary:
    'tells what differs, and which cases of both folders come out otherwise; 1 with --exit-code if anything',
  run: async (args, terminal) => {
    const options = { json: { type: 'boolean' }, 'exit-code': { type: 'boolean' } } as const;
    const { values, positionals } = readArguments(args, options, USAGE, { min: 2, max: 2 });
    const from = await openFolder(findPolicyDirectory(positionals[0]));
    const to = await openFolder(findPolicyDirectory(positionals[1]));
    const files = [...(await openCases(from.directory)), ...(await openCases(to.directory))];
    const rules = diffRules(from.base, to.base);
    const cases = findMovedCases(from, to, files);
    const revisions = { from: from.set.revision, to: to.set.revision };
    if (values.json === true) terminal.print(toJsonText({ revisions, ...rules, cases }));
    else printDiff(terminal, rules, cases);
    // Of two folders with one revision every decision is the same: what differs then is a file's order or form.
    const differs = revisions.from !== revisions.to || cases.length > 0;
    return differs && values['exit-code'] === true ? 1 : 0;
  },
};

function findMovedCases(from: OpenedFolder, to: OpenedFolder, files: readonly LoadedCases[]): MovedCase[] {
  const moved = files.flatMap((caseFile) =>
    findMovedIn(openSet(from, caseFile), openSet(to, caseFile), caseFile),
  );
  // A case that both folders have is told once.
  return [...new Map(moved.map((one) => [JSON.stringify(one), one])).values()];
}

/** What a file brings for its cases may be what the other folder has itself; then its cases are about that. */
function openSet({ set, base }: OpenedFolder, file: LoadedCases): PolicySet {
  try {
    return openCaseSet(set, base, file);
  } catch (error) {
    if (error instanceof PolicySetError) return set;
    throw error;
  }
}

function findMovedIn(
  from: PolicySet,
  to: PolicySet,
  { source: file, cases, approverCases }: LoadedCases,
): MovedCase[] {
  return [
    ...cases.flatMap((one) => {
      const [before, after] = [callOutcome(from, one), callOutcome(to, one)];
      // Which policies decide alike is no change to anybody but their author.
      if (demandsOf(before) === demandsOf(after)) return [];
      return [{ file, name: one.name, from: formatOutcome(before), to: formatOutcome(after) }];
    }),
    ...approverCases.flatMap((one) => {
      const [before, after] = [
        describeJudgement(judgeCase(from, one)),
        describeJudgement(judgeCase(to, one)),
      ];
      return before === after ? [] : [{ file, name: one.name, from: before, to: after }];
    }),
  ];
}

function callOutcome(set: PolicySet, one: CallCase): CallOutcome {
  return outcomeOf(decideCase(set, one), { ttl_seconds: null, max_scope: 'once', self_approval: [] });
}

function demandsOf({ determining_policies: _, ...demands }: CallOutcome): string {
  return JSON.stringify(demands);
}

function describeJudgement(judged: ApproverDecision): string {
  return judged.kind === 'permitted' ? 'permitted' : `refused, ${judged.code}`;
}

function printDiff(terminal: Terminal, { policies, tools }: RulesDiff, cases: readonly MovedCase[]): void {
  printNames(terminal, 'policy', policies);
  for (const { id, meansOther, diff: lines } of policies.changed) {
    const form = meansOther ? '' : ' in form only';
    terminal.print(`${terminal.paint('yellow', '~')} policy ${terminal.paint('bold', visible(id))}${form}`);
    terminal.print(lines.map((line) => `    ${paintLine(terminal, line)}`).join('\n'));
  }
  printNames(terminal, 'tool', tools);
  for (const { action, members } of tools.changed) {
    terminal.print(`${terminal.paint('yellow', '~')} tool ${terminal.paint('bold', visible(action))}`);
    for (const { name, from, to } of members) terminal.print(formatMember(terminal, name, from, to));
  }
  for (const { file, name, from, to } of cases) {
    terminal.print(`${terminal.paint('yellow', '!')} ${visible(`${file}: ${name}`)}`);
    terminal.print(`    ${terminal.paint('red', `- ${visible(from)}`)}`);
    terminal.print(`    ${terminal.paint('green', `+ ${visible(to)}`)}`);
  }
  const changes = ({ added, removed, changed }: RulesDiff['policies'] | RulesDiff['tools']): string =>
    `${added.length} added, ${removed.length} removed, ${changed.length} changed`;
  const moved = `${count(cases.length, 'case comes', 'cases come')} out otherwise`;
  terminal.print(`policies: ${changes(policies)}; tools: ${changes(tools)}; ${moved}`);
}

function printNames(terminal: Terminal, what: string, names: { added: string[]; removed: string[] }): void {
  for (const name of names.removed) terminal.print(`${terminal.paint('red', '-')} ${what} ${visible(name)}`);
  for (const name of names.added) terminal.print(`${terminal.paint('green', '+')} ${what} ${visible(name)}`);
}

function formatMember(terminal: Terminal, name: string, from: JsonValue, to: JsonValue): string {
  const isLong = JSON.stringify([from, to]).length > 100;
  const show = (value: JsonValue) => visibleLines(JSON.stringify(value, null, isLong ? 2 : 0));
  const indent = (text: string, sign: string) =>
    text
      .split('\n')
      .map((line) => `        ${sign} ${line}`)
      .join('\n');
  if (!isLong) return `    ${visible(name)}: ${show(from)} → ${show(to)}`;
  return [
    `    ${visible(name)}:`,
    terminal.paint('red', indent(show(from), '-')),
    terminal.paint('green', indent(show(to), '+')),
  ].join('\n');
}

function paintLine(terminal: Terminal, line: string): string {
  const shown = visible(line);
  if (line.startsWith('-')) return terminal.paint('red', shown);
  return line.startsWith('+') ? terminal.paint('green', shown) : shown;
}
