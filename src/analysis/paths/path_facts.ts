/** What policy is told of a path, from its text alone. */
export interface PathFacts {
  raw: string;
  /** The absolute path that it names lexically; without a root a relative path stays one. */
  normal: string;
  inside_workspace: boolean;
}

/**
 * Characters with which a path may mean another to whoever opens it: NUL and other controls end or hide it, an
 * escape is decoded by some, a backslash separates for some.
 */
const AMBIGUOUS = /[\p{Cc}\\]|%[0-9a-f]{2}/iu;
/** A home folder, a URL or a drive: relative to POSIX, elsewhere to whoever expands it. */
const ELSEWHERE = /^(~|[a-z][a-z0-9+.-]*:)/i;

/**
 * Reads a path as POSIX does (POSIX.1-2017 §4.13), lexically: nothing is opened, and a link is not followed. Inside
 * the workspace is what stays at or below its root from there on: a path that leaves it and comes back is outside,
 * and so is everything where no absolute root is known.
 */
export function readPath(raw: string, root: string | null): PathFacts {
  const base = root !== null && isWorkspaceRoot(root) ? splitPath(root) : null;
  const isAbsolute = raw.startsWith('/');
  const walked = walk(isAbsolute || base === null ? [] : base, splitPath(raw), base);
  const normal = isAbsolute || base !== null ? `/${walked.names.join('/')}` : walked.names.join('/');
  const isClear = raw !== '' && !AMBIGUOUS.test(raw) && !ELSEWHERE.test(raw);
  return { raw, normal, inside_workspace: isClear && walked.isInside };
}

/** Whether a text can be the root of a workspace: an absolute path that means the same to everyone. */
export function isWorkspaceRoot(text: string): boolean {
  return text.startsWith('/') && !AMBIGUOUS.test(text) && !text.split('/').includes('..');
}

/** Follows names from a folder. Going up where the workspace has already been left leaves it for good. */
function walk(
  start: readonly string[],
  steps: readonly string[],
  root: readonly string[] | null,
): { names: string[]; isInside: boolean } {
  const names = [...start];
  let hasLeft = false;
  for (const step of steps) {
    if (step !== '..') {
      names.push(step);
      continue;
    }
    hasLeft ||= root === null || names.length <= root.length || !isBelow(names, root);
    names.pop();
  }
  return { names, isInside: root !== null && !hasLeft && isBelow(names, root) };
}

function isBelow(names: readonly string[], root: readonly string[]): boolean {
  return root.every((name, index) => names[index] === name);
}

function splitPath(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
