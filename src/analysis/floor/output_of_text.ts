import type { Command } from './command.ts';
import { bodyOf, readNames } from './command_words.ts';
import { outputOf } from './output_of.ts';
import { readRoughly } from './read_roughly.ts';
import { readSegmentsRoughly, substitutedText } from './rough_segments.ts';
import { openScope, type Scope } from './scope.ts';

/** Longest substitution that is worked out, and how deep one in another. */
const LENGTH_MAX = 65_536;
const DEPTH_MAX = 6;

/** What a substitution, as written, prints: where its last pipeline is of tools whose output their text tells. */
export function outputOfText(text: string, scope: Scope): string | null {
  const inside = substitutedText(text);
  if (inside === null || inside.length > LENGTH_MAX || scope.depth >= DEPTH_MAX) return null;
  scope.budget.left -= inside.length;
  if (scope.budget.left < 0) return null;
  const inner: Scope = { ...openScope(scope), depth: scope.depth + 1 };
  const expander = { scope: inner, readOutput: outputOfText, depth: 0 };
  let output: string | null = null;
  let everything: string | null = '';
  for (const segment of readSegmentsRoughly(readRoughly(inside))) {
    const isPiped = segment.operator === '|' || segment.operator === '|&';
    const [named] = readNames(segment, expander, (args) => args);
    const input: string | null = bodyOf(segment, expander) ?? (isPiped ? output : null);
    const command: Command | null =
      named === undefined
        ? null
        : { ...named, words: segment.words, ground: inner, input, onEveryFile: false };
    const before: string | null = isPiped ? '' : everything;
    output = command === null ? null : outputOf(command, scope.budget);
    everything = output === null || before === null ? null : before + output;
  }
  return everything;
}
