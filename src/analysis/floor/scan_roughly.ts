import type { Segment } from '../command/analysis.ts';
import type { Command } from './command.ts';
import { baseName, writtenBy } from './command_words.ts';
import { decodeEscapes } from './decode_escapes.ts';
import { writesToDevice } from './device_rules.ts';
import { type Expander, expandWord } from './expand_word.ts';
import type { FloorRule } from './floor.ts';
import { holdsForkBomb } from './fork_bomb.ts';
import { judgeCode, mentionsInterpreter } from './inline_code.ts';
import { readFlat } from './rough_segments.ts';
import { hasRules, judgeAnyName } from './rules_by_name.ts';
import { isTooDeep, type Scope } from './scope.ts';
import { isShell } from './scripts_of.ts';

/** How many words of one command are each taken for the name. */
const NAMES_MAX = 8;
/** How much expansion may yield beside the text, for each of its characters. */
const EXPANSION_PER_CHARACTER = 16;

/**
 * What a text breaks that is not looked into: nested too deep, or past what a call may cost. Quotes and escapes count
 * for nothing, and every word with rules as a command, so that no nesting hides one; what is not known stays unknown,
 * so that an ordinary script breaks nothing. Its time is linear.
 */
export function scanRoughly(text: string, scope: Scope): Set<FloorRule> {
  const rules = new Set<FloorRule>();
  const decoded = /\\(?:x|u|U|[0-7])/.test(text) ? [text, decodeEscapes(text)] : [text];
  for (const one of decoded) {
    if (holdsForkBomb(one)) rules.add('fork-bomb');
    const budget = { left: EXPANSION_PER_CHARACTER * (one.length + NAMES_MAX), reserve: 0 };
    const expander: Expander = { scope: { ...scope, budget }, readOutput: () => null, depth: 0 };
    for (const segment of readFlat(one)) scanSegment(segment, expander, rules);
    if (mentionsInterpreter(one)) {
      const code = one.replaceAll('\\', '');
      for (const rule of judgeCode(code, commandOf('', [], scope)).rules) rules.add(rule);
    }
  }
  return rules;
}

function commandOf(name: string, args: readonly string[], ground: Scope): Command {
  return { name, args, words: [], ground, input: null, onEveryFile: false };
}

function scanSegment(segment: Segment, expander: Expander, rules: Set<FloorRule>): void {
  const { scope } = expander;
  if (writesToDevice(writtenBy(segment, expander), { ground: scope })) rules.add('raw-device-write');
  // So deep, nothing is decoded any more: what is piped into a shell there is hidden.
  if (isTooDeep(scope) && (segment.operator === '|' || segment.operator === '|&')) {
    const [name] = segment.words;
    if (isShell(baseName(name?.value ?? ''))) rules.add('hidden-script');
  }
  const words = segment.words.flatMap((word) => expandWord(word, expander));
  let tried = 0;
  for (let at = 0; at < words.length && tried < NAMES_MAX; at += 1) {
    const name = baseName(words[at] ?? '');
    if (at > 0 && !hasRules(name)) continue;
    tried += 1;
    for (const rule of judgeAnyName(commandOf(name, words.slice(at + 1), scope))) rules.add(rule);
  }
}
