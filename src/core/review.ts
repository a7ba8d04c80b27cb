import type { CommandParameters } from './command_call.ts';

/** What the registry says of an action beside its hash, as far as its review needs it; kept with the approval. */
export interface ReviewFacts {
  registered: boolean;
  command: CommandParameters | null;
  pathParameters: string[];
  hostParameters: string[];
  /** The root that relative paths are judged against. */
  workspaceRoot: string | null;
  /** Whether the call destroys something, by the registry's word; absent in rows older than this member. */
  destructive?: boolean;
}

export const REVIEW_LINE_KINDS = [
  'tool',
  'operation',
  'resource',
  'mutates_state',
  'parameter',
  'path',
  'host',
  'command',
  'segment',
  'cwd',
  'env',
  'resolved_path',
  'file_digest',
  'edit',
] as const;
export type ReviewLineKind = (typeof REVIEW_LINE_KINDS)[number];

/** One line of what an approver is shown. Texts hold no control, bidi or zero-width character: those are escapes. */
export interface ReviewLine {
  kind: ReviewLineKind;
  label: string;
  text: string;
  /** JSON Pointer (RFC 6901) of the value in the action; null where a line stands for none. */
  path: string | null;
  /** Of a value that is folded: its length in characters, and the SHA-256 of its UTF-8. The text then shows both ends. */
  folded: { length: number; sha256: string } | null;
  /** How deep a segment stands in the wrappers that would run it. */
  depth: number;
}

export const REVIEW_WARNING_CODES = [
  'control_characters',
  'bidi_characters',
  'invisible_characters',
  'confusable_characters',
  'mixed_scripts',
  'unknown_tool',
  'command_not_understood',
  'floor',
  'environment_changed',
  'script_not_bound',
  'path_outside_workspace',
  'masked',
  'folded',
] as const;
export type ReviewWarningCode = (typeof REVIEW_WARNING_CODES)[number];

export interface ReviewWarning {
  code: ReviewWarningCode;
  path: string | null;
  text: string;
}

/** What is shown of an action (SHOWN IS BOUND). `view_hash` is SHA-256 of the canonical JSON of the other members. */
export interface Review {
  view_version: number;
  view_hash: string;
  lines: ReviewLine[];
  warnings: ReviewWarning[];
}
