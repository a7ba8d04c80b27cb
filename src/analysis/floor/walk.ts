import type { Segment } from '../command/analysis.ts';
import { bindFromText } from './bindings.ts';
import type { Command } from './command.ts';
import { baseName, bodyOf, type NamedWords, readNames, writtenBy } from './command_words.ts';
import { writesToDevice } from './device_rules.ts';
import { changeScope, innerScope } from './effects.ts';
import type { Expander } from './expand_word.ts';
import { expandWord, isOpenName } from './expand_word.ts';
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
import { hasRules, judgeCommand, namesMeantBy } from './rules_by_name.ts';
import { assign, type Scope } from './scope.ts';
import { findRunCommand, isRunner, isShell, scriptsOf } from './scripts_of.ts';

/** What a walk over the segments needs beside them. */
interface Walk {
  /** Takes shell text apart that the analysis did not: what a decoder prints, what another language hands to a shell. */
  analyse: (text: string) => readonly Segment[];
  report: (rule: FloorRule, segment: Segment) => void;
  /** Whether nothing stands in a branch or a subshell, so that an assignment holds for all that follows. */
  isStraight: boolean;
}

/** How many texts within texts are looked into: beyond what the analysis itself unwrapped. */
const DEPTH_MAX = 6;

interface Place {
  scope: Scope;
  input: Output | null;
  feed: Feed | null;
}

function isPipe(operator: string | null): boolean {
  return operator === '|' || operator === '|&';
}

/** Walks a list of segments in order, and says what the last of them prints. */
export function walkList(segments: readonly Segment[], place: Place, walk: Walk): Output | null {
  const { scope, input, feed } = place;
  let output: Output | null = null;
  let unchanged: Scope['folders'] | null = null;
  for (const [index, segment] of segments.entries()) {
    const continues = segment.operator === '&&' || isPipe(segment.operator);
    if (unchanged !== null && !continues) {
      scope.folders = joinFolders(scope.folders, unchanged, scope);
      unchanged = null;
    }
    const read: Output | null = isPipe(segment.operator) ? output : segment.operator === null ? input : null;
    const before = scope.folders;
    const printed = walkSegment(segment, { scope, input: read, feed }, walk);
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

function walkSegment(segment: Segment, place: Place, walk: Walk): Output | null {
  const { scope, feed } = place;
  const expander = expanderOf(scope);
  for (const { name, value, text } of segment.assignments) {
    if (segment.words.length > 0) break;
    const isSure = walk.isStraight && segment.operator !== '&&' && segment.operator !== '||';
    assign(scope, name, value === null ? arrayValues(text, scope) : expandWord(value, expander), isSure);
  }
  judgeRedirections(segment, scope, walk);
  const body = bodyOf(segment, expander);
  const input = body === null ? place.input : { text: body, ofEveryFile: false };
  let output: Output | null = null;
  const readings = readNames(segment, expander, (args) => feedInto(args, feed));
  for (const [index, named] of readings.entries()) {
    const command = commandOf(named, segment, scope, input, feed);
    const printed = walkCommand(command, segment, { scope, input, feed }, walk);
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
  for (const name of namesMeantBy(command.name, isOpenName(command.name))) {
    for (const rule of judgeCommand({ ...command, name })) walk.report(rule, segment);
  }
  if (!isOpenName(command.name)) return;
  // A name that is not known, with the options of `rm -rf` and a root: nothing else is meant.
  const flags = command.args.filter((arg) => arg.startsWith('-')).join('');
  const isRemoval = /r/i.test(flags) && flags.includes('f');
  if (isRemoval) for (const rule of judgeCommand({ ...command, name: 'rm' })) walk.report(rule, segment);
}

function walkCommand(command: Command, segment: Segment, place: Place, walk: Walk): Output | null {
  const { name, args } = command;
  judge(command, segment, walk);
  const inner = innerScope(command, segment, place.scope, expanderOf(place.scope));
  const scripts = [...scriptsOf(command), ...substitutedScripts(command, segment, place.scope)];
  for (const script of scripts) walkScript(script, segment, { ...place, scope: inner }, walk);
  for (const code of codeOf(command)) walkCode(code, command, segment, { ...place, scope: inner }, walk);
  let output: Output | null = null;
  if (segment.inner.length > 0) {
    const readsOn = scripts.length === 0 || command.input === null;
    const next = { scope: inner, input: readsOn ? place.input : null, feed: feedFor(command, place) };
    output = walkList(segment.inner, next, walk);
  } else if (isRunner(name)) {
    tryRunner(command, segment, { ...place, scope: inner, feed: feedFor(command, place) }, walk);
  }
  changeScope(command, segment, place.scope);
  if (output !== null) return output;
  const text = outputOf(command, place.scope.budget);
  if (text === null) return null;
  const passesOn = place.input?.ofEveryFile === true && text === place.input.text;
  return { text, ofEveryFile: passesOn || (name === 'find' && readFind(args).printsEvery) };
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

/** Shell text that a segment would run: its shape, and its commands where the analysis does not hold them. */
function walkScript(text: string, segment: Segment, place: Place, walk: Walk): void {
  const { scope } = place;
  if (holdsForkBomb(text)) walk.report('fork-bomb', segment);
  bindFromText(text, scope);
  scope.budget.left -= text.length;
  // What comes through a pipe is worked out here further than the analysis does: it does not decode.
  const isHeld = segment.inner.length > 0 && text !== place.input?.text;
  if (isHeld || scope.depth >= DEPTH_MAX || scope.budget.left < 0) return;
  const deeper = { ...scope, depth: scope.depth + 1 };
  walkList(walk.analyse(text), { scope: deeper, input: null, feed: place.feed }, walk);
}

function walkCode(code: string, command: Command, segment: Segment, place: Place, walk: Walk): void {
  const { scope } = place;
  scope.budget.left -= code.length;
  if (scope.depth >= DEPTH_MAX || scope.budget.left < 0) return;
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
