import type { Assignment, CommandLanguage, CommandProblem, Redirection, Segment, Word } from '../analysis.ts';
import { likelyText } from './word_tools.ts';

/** What a segment would run in turn. */
export type Outcome =
  /** Words that run as a command, no shell between. */
  | { kind: 'words'; words: readonly Word[]; assignments: readonly Assignment[] }
  /** A text that a shell reads. */
  | { kind: 'text'; language: CommandLanguage; text: string }
  /** Something that the text does not tell. */
  | { kind: 'unknown'; code: CommandProblem['code']; text: string };

/** A segment to be opened, and what it would read from its standard input. */
export interface Opening {
  segment: Segment;
  /** The words, the name first. */
  words: readonly Word[];
  redirections: readonly Redirection[];
  /** The segments before this one in its pipeline, the nearest first, as far as they are looked at. */
  pipedFrom: readonly Segment[];
  /** Whether something is piped into it, known or not. */
  isPiped: boolean;
}

export type Opener = (opening: Opening) => Outcome[];

export function runWords(words: readonly Word[], assignments: readonly Assignment[] = []): Outcome {
  return { kind: 'words', words, assignments };
}

export function hidden(text: string): Outcome {
  return { kind: 'unknown', code: 'hidden_command', text };
}

export function dynamic(text: string): Outcome {
  return { kind: 'unknown', code: 'dynamic_command', text };
}

/** Words that run; when they are not known to be the command, they are still shown. */
export function runUnknown(words: readonly Word[], unknown: Outcome): Outcome[] {
  return words.length === 0 ? [unknown] : [unknown, runWords(words)];
}

/** Words that a shell reads again, joined by blanks. Where not all are known, what they most likely say is shown. */
export function runJoined(words: readonly Word[]): Outcome[] {
  const text: Outcome = { kind: 'text', language: 'posix', text: words.map(likelyText).join(' ') };
  return words.every(({ value }) => value !== null)
    ? [text]
    : [dynamic('the text that a shell would run is not known'), text];
}
