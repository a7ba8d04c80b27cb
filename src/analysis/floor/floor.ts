/** Rules of the floor: what destroys a machine, by the name that a refusal gives. */
export const FLOOR_RULES = [
  'fork-bomb',
  'recursive-delete-of-root',
  'recursive-delete-of-home',
  'raw-device-write',
  'format-filesystem',
  'shutdown',
  'kill-everything',
  'shadow-copy-destruction',
  'registry-hive-deletion',
  'recursive-permission-change',
  /** A script that would run and that no look can tell anything of: nested and assembled past all measure. */
  'hidden-script',
] as const;
export type FloorRule = (typeof FLOOR_RULES)[number];

/** A rule that a command breaks, and the part that does. */
export interface FloorHit {
  rule: FloorRule;
  /** The segment as it stands. */
  text: string;
}
