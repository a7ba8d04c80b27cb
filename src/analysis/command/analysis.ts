/** What a command would be read by. */
export type CommandLanguage = 'posix' | 'powershell' | 'cmd';

/** One piece of a word as a shell reads it. */
export type Piece =
  /** Text that stands for itself. `quoted` text is never a glob, a tilde or the start of an option list of braces. */
  | { kind: 'literal'; text: string; quoted: boolean }
  /** `*`, `?`, a bracket expression or an extended glob, as written. */
  | { kind: 'glob'; text: string }
  /** An unquoted `~` or `~user` at the start of a word. */
  | { kind: 'tilde'; user: string }
  /** `$NAME`, `${NAME…}`, `%NAME%`, `$env:NAME`. `plain` when it is the variable's value and nothing else. */
  | { kind: 'variable'; name: string; plain: boolean; text: string; quoted: boolean }
  /** What only running it could tell: command and process substitution, arithmetic, brace expansion. */
  | { kind: 'dynamic'; text: string };

/** A word of a command. */
export interface Word {
  /** As written. */
  text: string;
  /** What it stands for once quotes are removed; null when that depends on more than the text. */
  value: string | null;
  pieces: Piece[];
}

export interface Assignment {
  name: string;
  /** Null for an array. */
  value: Word | null;
  /** As written. */
  text: string;
}

export interface Redirection {
  /** `>`, `>>`, `<`, `<<<`, `<<`, `>&`, `&>` and so on. */
  operator: string;
  /** Null for a here-document, and where the target is missing. */
  target: Word | null;
  /** The text of a here-document or here-string, where it is known. */
  body: string | null;
}

/** One simple command, and what it would run in turn when it is a wrapper. */
export interface Segment {
  language: CommandLanguage;
  /** As it stands, without the operators around it. */
  text: string;
  /** The executable first. Empty when there are only assignments or redirections. */
  words: Word[];
  assignments: Assignment[];
  redirections: Redirection[];
  /** What joins it to the segment before it in its list; null for the first. */
  operator: string | null;
  /** Commands that it runs in turn: of `sudo rm x` that is `rm x`; of `sh -c 'a; b'` both. */
  inner: Segment[];
  /** False when it is not known what this segment runs: the name or the command handed to a wrapper is not. */
  understood: boolean;
}

/** Whatever a command line holds beside words, pipes and chains. */
export const CONSTRUCTS = [
  'redirection',
  'here_document',
  'command_substitution',
  'process_substitution',
  'parameter_expansion',
  'arithmetic_expansion',
  'brace_expansion',
  'glob',
  'tilde',
  'assignment',
  'subshell',
  'group',
  'control_flow',
  'function',
  'background',
  'newline',
  'comment',
  'negation',
] as const;
export type Construct = (typeof CONSTRUCTS)[number];

export interface CommandProblem {
  code:
    | 'syntax'
    | 'too_deep'
    | 'too_long'
    | 'dynamic_name'
    | 'dynamic_command'
    | 'hidden_command'
    | 'control_character';
  /** For a person, lower case, no full stop. */
  text: string;
}

/** A command line taken apart. Total: every text has one. */
export interface CommandAnalysis {
  language: CommandLanguage;
  /** Whether everything that would run is among the segments. What is not understood never counts as matched. */
  understood: boolean;
  /** Why not; empty when understood. */
  problems: CommandProblem[];
  /** In the order written, wherever they stand: in lists, groups, substitutions, control flow. */
  segments: Segment[];
  constructs: Construct[];
}

/** Every segment, each before those it would run in turn: the order of executables and of `resolved_paths`. */
export function listSegments(segments: readonly Segment[]): Segment[] {
  const found: Segment[] = [];
  collectSegments(found, segments);
  return found;
}

function collectSegments(found: Segment[], segments: readonly Segment[]): void {
  for (const segment of segments) {
    found.push(segment);
    collectSegments(found, segment.inner);
  }
}

/** The words that name executables, in the analyser's order; a segment of assignments alone names none. */
export function listExecutables({ segments }: CommandAnalysis): Word[] {
  return listSegments(segments).flatMap(({ words }) => words.slice(0, 1));
}
