import type { Review, ReviewLineKind } from '../core/review.ts';

/** A line of what would run, cut where it is long. */
export interface GistLine {
  label: string;
  text: string;
  /** Characters that are left out at its end. */
  leftOut: number;
}

/** What tells an approval from others in a list: the first lines of its review. */
export interface Gist {
  lines: GistLine[];
  /** Further lines of its review. */
  linesLeftOut: number;
}

const GIST_LINES = 4;
const GIST_LENGTH_MAX = 240;
/** What stands in a row's own heading, or says little before the whole is read. */
const NOT_IN_GIST: ReadonlySet<ReviewLineKind> = new Set([
  'tool',
  'operation',
  'resource',
  'mutates_state',
  'segment',
  'edit',
]);

function cut(text: string): Pick<GistLine, 'text' | 'leftOut'> {
  const characters = Array.from(text);
  if (characters.length <= GIST_LENGTH_MAX) return { text, leftOut: 0 };
  return {
    text: characters.slice(0, GIST_LENGTH_MAX).join(''),
    leftOut: characters.length - GIST_LENGTH_MAX,
  };
}

/** The gist of a review. */
export function gistOf({ lines }: Review): Gist {
  const resource = lines.filter(({ kind, text }) => kind === 'resource' && text !== 'null');
  const shown = [...resource, ...lines.filter(({ kind }) => !NOT_IN_GIST.has(kind))];
  return {
    lines: shown.slice(0, GIST_LINES).map(({ label, text }) => ({ label, ...cut(text) })),
    linesLeftOut: Math.max(shown.length - GIST_LINES, 0),
  };
}
