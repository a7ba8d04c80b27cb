import type { CommandLanguage, Segment } from '../command/analysis.ts';
import { commandName } from '../command/command_name.ts';
import { literalWord, textOf } from '../command/unwrap/word_tools.ts';
import { isWindowsName } from './windows_names.ts';

/** How many words of one command are each taken for the name. */
const NAMES_MAX = 8;
/** They only start others, and those stand among their words. */
const STARTERS = new Set('cmd powershell pwsh wsl start start-process iex invoke-expression'.split(' '));

const HIDING = /[\^`"']/g;
/** Escapes of escapes around what was quoted. */
const ESCAPES = /\\{2,}/g;
const SEPARATORS = /[&|;(){}\r\n]+/;

/**
 * The commands that a text may hold as if nothing in it were quoted and every word with rules started one: for text
 * that is nested deeper than it is taken apart. Its time is linear.
 */
export function readFlatAs(text: string, language: CommandLanguage): Segment[] {
  const segments: Segment[] = [];
  for (const part of text.replaceAll(HIDING, '').replaceAll(ESCAPES, '\\').split(SEPARATORS)) {
    const words = part.split(/\s+/).filter((word) => word !== '');
    const starts = words.flatMap((word, at) => {
      const name = commandName(word);
      return isWindowsName(name) && !STARTERS.has(name) ? [at] : [];
    });
    for (const start of starts.slice(0, NAMES_MAX)) {
      segments.push(segmentOf(words.slice(start).map(literalWord), language));
    }
  }
  return segments;
}

function segmentOf(words: Segment['words'], language: CommandLanguage): Segment {
  return {
    language,
    text: textOf(words),
    words,
    assignments: [],
    redirections: [],
    operator: null,
    inner: [],
    understood: false,
  };
}
