import { type ArithmeticCommand, forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash';
import type { CommandAnalysis, CommandProblem } from '../analysis.ts';
import {
  below,
  type Collector,
  createCollector,
  insideExpansion,
  type Place,
  rootPlace,
  TooDeep,
} from './collector.ts';
import { judgeDefinitions } from './definitions.ts';
import { noteNode } from './note_nodes.ts';
import { readCommand, readOuterRedirections } from './walk_commands.ts';
import { readGaps, walkJoined, walkStatements } from './walk_lists.ts';
import { isPlain } from './words.ts';

/** Here-documents that wait for the end of one line cost the parser the square of their number. */
const HERE_DOCUMENTS_MAX = 2048;
const LENGTH_MAX = 262_144;
const LONE_SURROGATE = /\p{Surrogate}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;

/**
 * POSIX shell text taken apart, as bash reads it; what other shells read otherwise is not understood. Total, and
 * linear in the length. Wrappers stay closed: every `inner` is empty.
 */
export function parsePosix(text: string): CommandAnalysis {
  const collector = createCollector(text);
  const refused = refuseText(text);
  if (refused === undefined) {
    readText(collector, text);
    judgeDefinitions(collector);
  } else {
    collector.problems.addAll([refused]);
  }
  const { segments, constructs, problems } = collector;
  const understood = problems.list.length === 0 && segments.every((segment) => segment.understood);
  return { language: 'posix', understood, problems: problems.list, segments, constructs: [...constructs] };
}

/** Texts that are not even read. */
function refuseText(text: string): CommandProblem | undefined {
  if (text.length > LENGTH_MAX || text.split('<<', HERE_DOCUMENTS_MAX + 1).length > HERE_DOCUMENTS_MAX) {
    return { code: 'too_long', text: 'the command is too long to be read' };
  }
  return CONTROL.test(text) || LONE_SURROGATE.test(text)
    ? { code: 'control_character', text: 'the command holds control characters' }
    : undefined;
}

function readText(collector: Collector, text: string): void {
  const { problems } = collector;
  try {
    const script = parse(text);
    walkScript(collector, script, rootPlace(script, text));
    checkGaps(collector, script, text);
  } catch (error) {
    if (error instanceof TooDeep || error instanceof RangeError) {
      problems.add('too_deep', 'the command is nested too deeply to be read');
    } else {
      problems.add('syntax', 'the command cannot be read');
    }
  }
}

/** What the parser passed over it did not understand. */
function checkGaps({ problems, constructs }: Collector, { commands }: ParsedScript, text: string): void {
  const bodies = constructs.has('here_document') ? hereDocuments(commands) : [];
  const { isClean, hasComment, hasNewline } = readGaps(text, commands, bodies);
  if (!isClean) problems.add('syntax', 'a part of the command cannot be read');
  if (hasComment) constructs.add('comment');
  if (hasNewline) constructs.add('newline');
}

/** Where the here-documents of these nodes stand; those inside of expansions lie within their words. */
function hereDocuments(nodes: readonly SyntaxNode[]): [pos: number, end: number][] {
  const found: [number, number][] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'HereDoc') found.push([node.body.pos, node.closing?.end ?? node.body.end]);
    else if (node.type !== 'Word') forEachChild(node, visit);
  };
  nodes.forEach(visit);
  return found.sort(([a], [b]) => a - b);
}

function walkScript(collector: Collector, script: ParsedScript, place: Place): void {
  const [error] = script.errors ?? [];
  if (error !== undefined) collector.problems.add('syntax', `the command cannot be read: ${error.message}`);
  walkStatements(collector, script.commands, place, walk);
}

/** Notes everything at and below a node. */
function walk(collector: Collector, node: SyntaxNode, place: Place): void {
  switch (node.type) {
    case 'Script':
      walkScript(collector, node, { ...place, source: node.source ?? place.source, operator: null });
      return;
    case 'CompoundList':
      walkStatements(collector, node.commands, place, walk);
      return;
    case 'Pipeline':
    case 'AndOr':
      walkJoined(collector, node, place, walk);
      return;
    case 'Word':
      if (isPlain(node.text) || node.parts === undefined) return;
      break;
    case 'Command':
      collector.segments.push(readCommand(collector, node, place));
      break;
    case 'Redirected':
      walk(collector, node.command, below(place, place.operator));
      collector.segments.push(readOuterRedirections(collector, node, place));
      for (const redirect of node.redirects) walk(collector, redirect, below(place));
      return;
    case 'ArithmeticCommand':
      noteNode(collector, node, place);
      walkArithmeticCommand(collector, node, place);
      break;
    default:
      noteNode(collector, node, place);
  }
  walkChildren(collector, node, place);
}

/** The first command below stands where the node stands; those after it are the first of their lists. */
function walkChildren(collector: Collector, node: SyntaxNode, place: Place): void {
  const isExpansion = EXPANSIONS.has(node.type);
  let others = isExpansion ? insideExpansion(collector, place, node.end - node.pos) : undefined;
  let operator = isExpansion ? null : place.operator;
  forEachChild(node, (child) => {
    if (operator !== null && child.type !== 'Word') {
      walk(collector, child, below(place, operator));
      operator = null;
    } else {
      others ??= below(place);
      walk(collector, child, others);
    }
  });
}

/** Shells without arithmetic commands take `((a))` for two subshells: what these would run is noted too. */
function walkArithmeticCommand(collector: Collector, { body }: ArithmeticCommand, place: Place): void {
  const script = parse(body);
  if (script.errors === undefined || script.errors.length === 0) {
    walkScript(collector, script, { ...insideExpansion(collector, place, body.length), source: body });
  }
}

const EXPANSIONS = new Set<SyntaxNode['type']>([
  'CommandExpansion',
  'ArithmeticCommandExpansion',
  'ProcessSubstitution',
  'ParameterExpansion',
  'ArithmeticExpansion',
  'BraceExpansion',
  'ExtendedGlob',
]);
