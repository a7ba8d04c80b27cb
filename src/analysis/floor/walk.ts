import type { Segment } from '../command/analysis.ts';
import { isIdle, runsOutput } from './acting_names.ts';
import { bindFromText } from './bindings.ts';
import type { Command } from './command.ts';
import { baseName, bodyOf, type NamedWords, readNames, writtenBy } from './command_words.ts';
import { writesToDevice } from './device_rules.ts';
import { changeScope, innerScope } from './effects.ts';
import type { Expander } from './expand_word.ts';
import { expandWord } from './expand_word.ts';
import { type Feed, feedInto, feedOfFind, feedOfParallel, feedOfXargs, type Output } from './feed.ts';
import { readFind } from './find_rule.ts';
import type { FloorRule } from './floor.ts';
import { joinFolders } from './folders.ts';
import { holdsForkBomb } from './fork_bomb.ts';
import { codeOf, judgeCode } from './inline_code.ts';
import { SPLIT } from './marks.ts';
import { outputOf } from './output_of.ts';
import { outputOfText } from './output_of_text.ts';
import { isSysrqTrigger } from './protected_paths.ts';
import { hasRules, judgeAnyName } from './rules_by_name.ts';
import { scanRoughly } from './scan_roughly.ts';
import { assign, isTooDeep, type Scope } from './scope.ts';
import { findRunCommand, isRunner, isShell, scriptsOf } from './scripts_of.ts';

/** What a walk over the segments needs beside them. */
interface Walk {
  /** Takes shell text apart that the analysis did not: what a decoder prints, what another language hands to a shell. */
  analyse: (text: string) => readonly Segment[];
  report: (rule: FloorRule, segment: Segment) => void;
  /** Whether nothing stands in a branch or a subshell, so that an assignment holds for all that follows. */
  isStraight: boolean;
}

interface Place {
  scope: Scope;
  input: Output | null;
  feed: Feed | null;
  /** Whether what a command prints may be run, and so has to be worked out. */
  isHeard: boolean;
}

function isPipe(operator: string | null): boolean {
  return operator === '|' || operator === '|&';
}

/** Walks all segments of a text. */
export function walkText(
  segments: readonly Segment[],
  place: Pick<Place, 'scope' | 'feed'>,
  walk: Walk,
): void {
  walkList(segments, { ...place, input: null, isHeard: runsOutput(segments) }, walk);
}

/** Walks a list of segments in order, and says what the last of them prints. */
function walkList(segments: readonly Segment[], place: Place, walk: Walk): Output | null {
  const { scope, input } = place;
  let output: Output | null = null;
  let unchanged: Scope['folders'] | null = null;
  for (let index = 0; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === undefined) break;
    const continues = segment.operator === '&&' || isPipe(segment.operator);
    if (unchanged !== null && !continues) {
      scope.folders = joinFolders(scope.folders, unchanged, scope);
      unchanged = null;
    }
    if (!place.isHeard && isIdle(segment)) {
      judgeAside(segment, scope, walk);
      continue;
    }
    const read: Output | null = isPipe(segment.operator) ? output : segment.operator === null ? input : null;
    const before = scope.folders;
    const printed = walkSegment(segment, { ...place, input: read }, walk);
    if (scope.folders !== before && !scope.failsFast) {
      if (segments[index + 1]?.operator === '&&') unchanged = before;
      else scope.folders = joinFolders(scope.folders, before, scope);
    }
    // A substitution's commands stand between a command and the next of its pipeline; what is not known hides nothing.
    output = printed ?? (segment.operator === null ? output : null);
  }
  return output;
}

function expanderOf(scope: Scope): Expander {
  return { scope, readOutput: outputOfText, depth: 0 };
}

function judgeRedirections(segment: Segment, scope: Scope, walk: Walk): void {
  if (segment.redirections.length === 0) return;
  const written = writtenBy(segment, expanderOf(scope));
  if (writesToDevice(written, { ground: scope })) walk.report('raw-device-write', segment);
  if (written.some((path) => isSysrqTrigger(path, scope))) walk.report('shutdown', segment);
}

/** Takes in the assignments of a segment that is nothing else; those before a command are for that alone. */
function noteAssignments(segment: Segment, scope: Scope, walk: Walk): void {
  if (segment.words.length > 0 || segment.assignments.length === 0) return;
  const isSure = walk.isStraight && segment.operator !== '&&' && segment.operator !== '||';
  for (const { name, value, text } of segment.assignments) {
    assign(
      scope,
      name,
      value === null ? arrayValues(text, scope) : expandWord(value, expanderOf(scope)),
      isSure,
    );
  }
}

/** What a segment does beside the command that it runs. */
function judgeAside(segment: Segment, scope: Scope, walk: Walk): void {
  noteAssignments(segment, scope, walk);
  judgeRedirections(segment, scope, walk);
}

function walkSegment(segment: Segment, place: Place, walk: Walk): Output | null {
  const { scope, feed } = place;
  judgeAside(segment, scope, walk);
  const expander = expanderOf(scope);
  const body = bodyOf(segment, expander);
  const input = body === null ? place.input : { text: body, ofEveryFile: false };
  let output: Output | null = null;
  const readings = readNames(segment, expander, (args) => feedInto(args, feed));
  for (const [index, named] of readings.entries()) {
    const command = commandOf(named, segment, scope, input, feed);
    const printed = walkCommand(command, segment, { ...place, input }, walk);
    if (index === 0) output = printed;
  }
  return output;
}

/** The words of `NAME=(…)`, which stand for `"${NAME[@]}"`. */
function arrayValues(text: string, scope: Scope): string[] {
  const inside = text.slice(text.indexOf('(') + 1).replace(/\)$/, '');
  const printed = outputOfText(`$(echo -E ${inside})`, scope);
  return printed === null ? [] : [printed.trim().replaceAll(' ', SPLIT)];
}

function commandOf(
  { name, args }: NamedWords,
  segment: Segment,
  scope: Scope,
  input: Output | null,
  feed: Feed | null,
): Command {
  const onEveryFile = feed?.onEveryFile ?? false;
  return { name, args, words: segment.words, ground: scope, input: input?.text ?? null, onEveryFile };
}

function judge(command: Command, segment: Segment, walk: Walk): void {
  for (const rule of judgeAnyName(command)) walk.report(rule, segment);
}

function walkCommand(command: Command, segment: Segment, place: Place, walk: Walk): Output | null {
  const { name, args } = command;
  judge(command, segment, walk);
  if (segment.inner.length === 0 && hidesScript(command, place.scope)) walk.report('hidden-script', segment);
  const output = walkWithin(command, segment, place, walk);
  changeScope(command, segment, place.scope);
  if (output !== null || !place.isHeard) return output;
  const text = outputOf(command, place.scope.budget);
  if (text === null) return null;
  const passesOn = place.input?.ofEveryFile === true && text === place.input.text;
  return { text, ofEveryFile: passesOn || (name === 'find' && readFind(args).printsEvery) };
}

/** What a command runs in turn; says what that prints. */
function walkWithin(command: Command, segment: Segment, place: Place, walk: Walk): Output | null {
  const { inner } = segment;
  const scripts = [...scriptsOf(command), ...substitutedScripts(command, segment, place.scope)];
  const codes = codeOf(command);
  const mayRunWords = inner.length === 0 && isRunner(command.name);
  if (scripts.length === 0 && codes.length === 0 && inner.length === 0 && !mayRunWords) return null;
  const scope = innerScope(command, segment, place.scope, expanderOf(place.scope));
  for (const script of scripts) walkScript(script, segment, { ...place, scope }, walk);
  for (const code of codes) walkCode(code, command, segment, { ...place, scope }, walk);
  const next = { ...place, scope, feed: feedFor(command, place) };
  if (mayRunWords) tryRunner(command, segment, next, walk);
  if (inner.length === 0) return null;
  const readsOn = scripts.length === 0 || command.input === null;
  return walkList(inner, { ...next, input: readsOn ? place.input : null }, walk);
}

function feedFor({ name, args }: Command, { feed, input }: Place): Feed | null {
  if (name === 'find' || name === 'gfind') return feedOfFind(readFind(args));
  if (name === 'parallel') return feedOfParallel(args, input);
  return name === 'xargs' ? feedOfXargs(args, input) : feed;
}

/** What `bash <(…)` and `source <(…)` would run. */
function substitutedScripts({ name }: Command, { words }: Segment, scope: Scope): string[] {
  if (!isShell(name) && name !== 'source' && name !== '.') return [];
  return words.flatMap(({ pieces }) =>
    pieces.flatMap((piece) =>
      piece.kind === 'dynamic' && piece.text.startsWith('<(') ? (outputOfText(piece.text, scope) ?? []) : [],
    ),
  );
}

/** Whether nothing that stands in this scope is looked into any further. */
function isTooFar(scope: Scope): boolean {
  return isTooDeep(scope) || scope.budget.left < 0;
}

/** Text that would run and is not looked into: what a rough look finds decides, and past all measure that it is there. */
function scanText(text: string, segment: Segment, scope: Scope, walk: Walk): void {
  scope.budget.reserve -= text.length;
  if (scope.budget.reserve < 0) walk.report('hidden-script', segment);
  else for (const rule of scanRoughly(text, scope)) walk.report(rule, segment);
}

/** Whether a command runs what it reads, and that was not worked out since the call had cost too much before. */
function hidesScript(command: Command, { budget }: Scope): boolean {
  if (budget.reserve >= 0 || command.input !== null) return false;
  const reading = { ...command, input: '' };
  return scriptsOf(reading).includes('') || codeOf(reading).includes('');
}

/** Shell text that a segment would run: its shape, and its commands where the analysis does not hold them. */
function walkScript(text: string, segment: Segment, place: Place, walk: Walk): void {
  const { scope } = place;
  scope.budget.left -= text.length;
  // What comes through a pipe is worked out here further than the analysis does: it does not decode.
  const isHeld = segment.inner.length > 0 && text !== place.input?.text;
  if (!isHeld && isTooFar(scope)) {
    scanText(text, segment, scope, walk);
    return;
  }
  if (holdsForkBomb(text)) walk.report('fork-bomb', segment);
  bindFromText(text, scope);
  if (isHeld) return;
  const deeper = { ...scope, depth: scope.depth + 1 };
  walkText(walk.analyse(text), { scope: deeper, feed: place.feed }, walk);
}

function walkCode(code: string, command: Command, segment: Segment, place: Place, walk: Walk): void {
  const { scope } = place;
  scope.budget.left -= code.length;
  if (isTooFar(scope)) {
    scanText(code, segment, scope, walk);
    return;
  }
  const { rules, scripts, codes } = judgeCode(code, command);
  for (const rule of rules) walk.report(rule, segment);
  const deeper = { ...place, scope: { ...scope, depth: scope.depth + 1 } };
  const bare = { ...segment, inner: [] };
  for (const script of scripts) walkScript(script, bare, deeper, walk);
  for (const decoded of codes) walkCode(decoded, command, bare, deeper, walk);
}

/** Looks at a runner's words for the command among them, where that is one that rules are kept for. */
function tryRunner(command: Command, segment: Segment, place: Place, walk: Walk): void {
  const { args } = command;
  const at = findRunCommand(command);
  const name = baseName(args[at] ?? '');
  if (!hasRules(name) && !isShell(name)) return;
  const onEveryFile = place.feed?.onEveryFile ?? false;
  const tried = { ...command, name, args: feedInto(args.slice(at + 1), place.feed), onEveryFile };
  judge(tried, segment, walk);
  for (const script of scriptsOf(tried)) walkScript(script, segment, place, walk);
}
