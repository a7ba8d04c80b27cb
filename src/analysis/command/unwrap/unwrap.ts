import type { CommandAnalysis, CommandLanguage, Construct, Redirection, Segment, Word } from '../analysis.ts';
import { hidesCommands } from '../posix/variables.ts';
import { type Problems, shown } from '../problems.ts';
import { openerOf } from './openers.ts';
import type { Opener, Outcome } from './outcome.ts';
import { textOf } from './word_tools.ts';

/** Wrappers inside each other. */
const DEPTH_MAX = 8;

/** What unwrapping needs and adds to. */
export interface Unwrapping {
  /** Takes a text apart, without unwrapping. */
  analyse: (text: string, language: CommandLanguage) => CommandAnalysis;
  problems: Problems;
  constructs: Set<Construct>;
  /** Characters of texts inside texts that may still be read. */
  left: number;
}

/** How many characters of texts inside texts are read for a command of this length. */
export function textsAllowed(length: number): number {
  return 16_384 + 6 * length;
}

/** What reaches a segment through its standard input. */
interface Input {
  redirections: readonly Redirection[];
  pipedFrom: readonly Segment[];
  isPiped: boolean;
}

/** Segments with what each would run in turn. The words of a level are read once for each level above them. */
export function unwrapSegments(unwrapping: Unwrapping, segments: readonly Segment[], depth = 0): Segment[] {
  return segments.map((segment, index) => {
    const isPiped = segment.operator === '|' || segment.operator === '|&';
    const pipedFrom = isPiped ? before(segments, index) : [];
    return unwrapSegment(unwrapping, segment, depth, { redirections: [], pipedFrom, isPiped });
  });
}

/** What even an empty text costs. */
const TEXT_COST = 4;

/** As many segments before one as what is piped into a shell is followed back. */
const FOLLOWED_BACK = 3;

function before(segments: readonly Segment[], index: number): Segment[] {
  const found: Segment[] = [];
  for (let at = index - 1; at >= 0 && found.length < FOLLOWED_BACK; at -= 1) {
    const segment = segments[at];
    if (segment === undefined) break;
    found.push(segment);
    if (segment.operator !== '|' && segment.operator !== '|&') break;
  }
  return found;
}

function unwrapSegment(unwrapping: Unwrapping, segment: Segment, depth: number, input: Input): Segment {
  const { problems } = unwrapping;
  if (!isFixedName(problems, segment.words[0])) return { ...segment, understood: false };
  const open = openerFor(segment);
  if (open === undefined) return withAssignmentsJudged(problems, segment);
  const { pipedFrom, isPiped } = input;
  const redirections = [...input.redirections, ...segment.redirections];
  const outcomes = open({ segment, words: segment.words, redirections, pipedFrom, isPiped });
  if (outcomes.length === 0) return withAssignmentsJudged(problems, segment);
  const inner: Segment[] = [];
  let understood = segment.understood;
  for (const outcome of outcomes) {
    if (outcome.kind === 'unknown') {
      problems.add(outcome.code, outcome.text);
      understood = false;
    } else if (depth >= DEPTH_MAX) {
      problems.add('too_deep', 'commands that run commands are nested too deeply');
      understood = false;
    } else {
      const passed = { redirections, pipedFrom, isPiped };
      for (const found of readOutcome(unwrapping, segment, outcome, depth + 1, passed)) inner.push(found);
    }
  }
  return withAssignmentsJudged(problems, { ...segment, inner, understood });
}

function openerFor({ words: [name], language }: Segment): Opener | undefined {
  return typeof name?.value === 'string' ? openerOf(name.value, language) : undefined;
}

function readOutcome(
  unwrapping: Unwrapping,
  outer: Segment,
  outcome: Exclude<Outcome, { kind: 'unknown' }>,
  depth: number,
  input: Input,
): Segment[] {
  if (outcome.kind === 'text') {
    unwrapping.left -= outcome.text.length + TEXT_COST;
    if (unwrapping.left < 0) {
      unwrapping.problems.add('too_deep', 'texts that hold texts of commands are nested too deeply');
      return [];
    }
    const { segments, problems, constructs } = unwrapping.analyse(outcome.text, outcome.language);
    unwrapping.problems.addAll(problems);
    for (const construct of constructs) unwrapping.constructs.add(construct);
    return unwrapSegments(unwrapping, segments, depth);
  }
  const { words, assignments } = outcome;
  const segment: Segment = {
    language: outer.language,
    text: textOf(words),
    words: [...words],
    assignments: [...assignments],
    redirections: [],
    operator: null,
    inner: [],
    understood: true,
  };
  return [unwrapSegment(unwrapping, segment, depth, input)];
}

function isFixedName(problems: Problems, name: Word | undefined): boolean {
  if (name === undefined || (name.value !== null && name.value !== '')) return true;
  problems.add('dynamic_name', `the name of the command ${shown(name.text)} is not fixed`);
  return false;
}

/** Assignments that a wrapper gives, or those before a command. */
function withAssignmentsJudged(problems: Problems, segment: Segment): Segment {
  const { assignments, words } = segment;
  if (assignments.length === 0 || words.length === 0 || DECLARES.test(words[0]?.value ?? '')) return segment;
  const hiding = assignments.find(({ name }) => hidesCommands(name));
  if (hiding === undefined) return segment;
  problems.add('hidden_command', `${shown(hiding.name)} changes what commands run`);
  return { ...segment, understood: false };
}

const DECLARES = /^(?:export|declare|typeset|readonly|local)$/;
