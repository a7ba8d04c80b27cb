/** What an approver is shown of an action, line by line. */
export interface Review {
  view_version: number;
  /** SHA-256 of the canonical JSON of the other members; a vote that carries it counts for this view only. */
  view_hash: string;
  lines: ReviewLine[];
  warnings: ReviewWarning[];
}

export interface ReviewLine {
  /** `tool`, `parameter`, `command`, `segment`, `cwd` and so on. */
  kind: string;
  label: string;
  /** Control, bidi, invisible and confusable characters in it are escapes such as `\u{202e}`. */
  text: string;
  /** JSON Pointer (RFC 6901) of the value in the action. */
  path: string | null;
  /** Of a text whose middle is left out: characters and SHA-256 of all of it. */
  folded: { length: number; sha256: string } | null;
  /** How deep a segment stands in the commands that run it. */
  depth: number;
}

export interface ReviewWarning {
  /** `bidi_characters`, `unknown_tool`, `command_not_understood` and so on. */
  code: string;
  path: string | null;
  text: string;
}
