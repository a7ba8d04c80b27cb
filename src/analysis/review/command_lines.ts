import type { CommandParameters } from '../../core/command_call.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { listExecutables, listSegments, type Segment } from '../command/analysis.ts';
import { listScriptFiles } from '../command/script_files.ts';
import { type ExaminedCommand, examineCommand } from '../examine_command.ts';
import { pointerTo, pointerToItem, sortedMembers } from './leaves.ts';
import type { Parameter } from './parameter_lines.ts';
import { contentOf, type Sheet } from './sheet.ts';

/** Segments that have a line each. What is left out then is said, and a command so long is folded itself. */
const SEGMENTS_MAX = 500;
const NAMED_MAX = 5;

/** What a command is made of among the parameters of a call. */
interface CommandPart {
  sheet: Sheet;
  parameters: ReadonlyMap<string, Parameter>;
  command: Parameter;
  examined: ExaminedCommand;
}

/**
 * The lines of a command: as written, its segments, where and with what it runs. Returns the names of the parameters
 * that have their lines with it; empty where the call states no command.
 */
export function addCommand(
  sheet: Sheet,
  call: JsonObject,
  parameters: ReadonlyMap<string, Parameter>,
  names: CommandParameters,
  isLarge: boolean,
): ReadonlySet<string> {
  const command = parameters.get(names.parameter);
  if (command === undefined || typeof command.value !== 'string') return new Set();
  const part = { sheet, parameters, command, examined: examineCommand(call, names) };
  const { name, value, pointer, isSecret } = command;
  const content = isSecret
    ? contentOf(sheet.hider, name, value, true)
    : { raw: command.value, text: sheet.hider.maskText(command.value), isQuoted: false };
  sheet.add({ kind: 'command', label: pointer, path: pointer }, content);
  if (!isSecret) addSegments(part);
  warnOfCommand(part);
  warnOfEnvironment(part);
  const shown = [name, ...addCwd(part)];
  // What an action of too many values has of these is shown as the other parameters are.
  if (isLarge) return new Set(shown);
  return new Set([...shown, ...addEnv(part), ...addResolvedPaths(part), ...addDigests(part)]);
}

function addSegments({ sheet, command, examined }: CommandPart): void {
  const path = command.pointer;
  let count = 0;
  const walk = (segments: readonly Segment[], before: string, depth: number): void => {
    for (const [index, segment] of segments.entries()) {
      count += 1;
      if (count > SEGMENTS_MAX) return;
      const number = `${before}${index + 1}`;
      const raw = segment.operator === null ? segment.text : `${segment.operator} ${segment.text}`;
      const content = { raw, text: sheet.hider.maskText(raw), isQuoted: false };
      sheet.add({ kind: 'segment', label: number, path, depth }, content);
      // What would run is no secret: whoever has it taken for one may want it unseen.
      if (!command.isSecret && !content.text.includes(segment.words[0]?.text ?? '')) {
        sheet.warn('command_not_understood', path, `the name of what segment ${number} runs is hidden here`);
      }
      walk(segment.inner, `${number}.`, depth + 1);
    }
  };
  walk(examined.analysis.segments, '', 0);
  const left = listSegments(examined.analysis.segments).length - SEGMENTS_MAX;
  if (left <= 0) return;
  sheet.addPlain(
    { kind: 'segment', label: 'left out', path },
    `${left} more segments are not shown one by one`,
  );
  sheet.warn('folded', path, `the command has ${left} more segments than are shown one by one`);
}

function warnOfCommand({ sheet, command, examined: { call, analysis, floor } }: CommandPart): void {
  const path = command.pointer;
  const quote = (text: string): string => (command.isSecret ? '' : `: \`${sheet.showToken(text, path)}\``);
  for (const { rule, text } of floor) {
    sheet.warn('floor', path, `breaks the rule \`${rule}\` of the floor${quote(text)}`);
  }
  if (!analysis.understood && analysis.problems.length === 0) {
    sheet.warn('command_not_understood', path, 'it is not known what all of the command would run');
  }
  for (const { code, text } of analysis.problems) {
    const why = command.isSecret ? code : sheet.showToken(text, path).replaceAll('\\u{20}', ' ');
    sheet.warn('command_not_understood', path, `it is not known what all of the command would run: ${why}`);
  }
  const assigned = listSegments(analysis.segments).flatMap(({ assignments }) => assignments);
  if (assigned.length > 0) {
    const names = command.isSecret
      ? ''
      : `: ${nameSome(
          sheet,
          path,
          assigned.map(({ name }) => name),
        )}`;
    sheet.warn('environment_changed', path, `the command sets variables${names}`);
  }
  for (const word of listScriptFiles(analysis)) {
    if (word.value !== null && Object.hasOwn(call.fileDigests, word.value)) continue;
    const what = `a script file that the command names may change before it runs${quote(word.text)}`;
    sheet.warn('script_not_bound', path, `${what}. \`file_digests\` does not bind it`);
  }
}

function nameSome(sheet: Sheet, path: string, names: readonly string[]): string {
  const some = [...new Set(names)];
  const named = some.slice(0, NAMED_MAX).map((name) => `\`${sheet.showToken(name, path)}\``);
  return named.join(', ') + (some.length > NAMED_MAX ? ` and ${some.length - NAMED_MAX} more` : '');
}

function addCwd({ sheet, parameters }: CommandPart): string[] {
  const cwd = parameters.get('cwd');
  if (cwd === undefined || typeof cwd.value !== 'string') return [];
  const content = contentOf(sheet.hider, cwd.name, cwd.value, cwd.isSecret);
  sheet.add({ kind: 'cwd', label: cwd.pointer, path: cwd.pointer }, content);
  return [cwd.name];
}

/** The texts of an object that has nothing else; undefined for what is empty, secret or not of that form. */
function textMembers(parameter: Parameter | undefined): [string, string][] | undefined {
  if (parameter === undefined || parameter.isSecret || !isJsonObject(parameter.value)) return undefined;
  const members = sortedMembers(parameter.value);
  const isText = (member: [string, JsonValue]): member is [string, string] => typeof member[1] === 'string';
  return members.length > 0 && members.every(isText) ? members : undefined;
}

function addMembers(
  { sheet }: CommandPart,
  kind: 'env' | 'file_digest',
  parameter: Parameter,
  members: readonly [string, string][],
): void {
  for (const [name, value] of members) {
    const path = pointerTo(sheet, parameter.pointer, name);
    sheet.add({ kind, label: sheet.showToken(name, path), path }, contentOf(sheet.hider, name, value, false));
  }
}

function warnOfEnvironment({ sheet, parameters, examined }: CommandPart): void {
  const env = parameters.get('env');
  const names = Object.keys(examined.call.env);
  if (env === undefined || names.length === 0) return;
  const named = env.isSecret ? '' : `: ${nameSome(sheet, env.pointer, names)}`;
  sheet.warn('environment_changed', env.pointer, `sets variables for the command${named}`);
}

function addEnv(part: CommandPart): string[] {
  const env = part.parameters.get('env');
  const members = textMembers(env);
  if (env === undefined || members === undefined) return [];
  addMembers(part, 'env', env, members);
  return [env.name];
}

function addDigests(part: CommandPart): string[] {
  const digests = part.parameters.get('file_digests');
  const members = textMembers(digests);
  if (digests === undefined || members === undefined) return [];
  addMembers(part, 'file_digest', digests, members);
  return [digests.name];
}

/** Each path beside the executable that it is stated for, and what has none. */
function addResolvedPaths({ sheet, parameters, command, examined }: CommandPart): string[] {
  const stated = parameters.get('resolved_paths');
  const paths = examined.call.resolvedPaths;
  if (stated === undefined || stated.isSecret || paths === null || paths.length === 0) return [];
  const words = listExecutables(examined.analysis);
  for (const [index, path] of paths.entries()) {
    const pointer = pointerToItem(stated.pointer, index);
    const word = words[index];
    const label = word === undefined || command.isSecret ? '(none)' : sheet.showToken(word.text, pointer);
    const content = contentOf(sheet.hider, stated.name, path, false);
    sheet.add({ kind: 'resolved_path', label, path: pointer }, content);
  }
  for (const word of words.slice(paths.length)) {
    const label = command.isSecret ? '(none)' : sheet.showToken(word.text, command.pointer);
    sheet.addPlain({ kind: 'resolved_path', label, path: stated.pointer }, '(none stated)');
  }
  return [stated.name];
}
