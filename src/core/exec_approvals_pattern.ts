/** Characters of a pattern, and of a path that a pattern can match. */
export const PATTERN_CHARACTERS_MAX = 4_096;

/** An absolute path taken apart. */
export interface AbsolutePath {
  /** The drive in lower case, as in `C:/Tools`; null for a POSIX path. */
  drive: string | null;
  /** Never empty, and none of them empty, `.` or `..`. */
  components: string[];
}

/** A pattern taken apart: `home` for one that starts with `~/`. */
export type PathPattern = { base: 'root' | 'home' } & AbsolutePath;

/** A component that stands for any number of components. */
export const ANY_COMPONENTS = '**';

/** Controls, format characters (bidi and zero-width ones among them), lone surrogates, separators of lines. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const DRIVE = /^[A-Za-z]:[/\\]/;

/**
 * An absolute path taken apart: of POSIX, or of Windows with a drive, where `\` reads as `/`. Undefined for whatever
 * is no plain absolute path: relative, with `.`, `..` or empty components, with characters that are not shown, longer
 * than 4,096 characters; on Windows also for a component that names something else than it says (`git.exe.`, streams).
 */
export function parseAbsolutePath(path: string): AbsolutePath | undefined {
  if (path.length > PATTERN_CHARACTERS_MAX || UNSHOWN.test(path)) return undefined;
  if (DRIVE.test(path)) {
    const components = path.slice(3).split(/[/\\]/);
    const isPlain = components.every((component) => !/[:"<>|]/.test(component) && !/[. ]$/.test(component));
    return isPlain && areComponents(components)
      ? { drive: path.charAt(0).toLowerCase(), components }
      : undefined;
  }
  if (!path.startsWith('/')) return undefined;
  const components = path.slice(1).split('/');
  return areComponents(components) ? { drive: null, components } : undefined;
}

function areComponents(components: readonly string[]): boolean {
  return components.every((component) => component !== '' && component !== '.' && component !== '..');
}

/** A pattern taken apart, or why it could never match a path. */
export function parsePathPattern(pattern: string): PathPattern | { fault: string } {
  const isHome = pattern.startsWith('~/');
  const parsed = parseAbsolutePath(isHome ? pattern.slice(1) : pattern);
  if (parsed === undefined) return { fault: describeFault(pattern, isHome) };
  if (parsed.components.some((component) => component !== ANY_COMPONENTS && component.includes('**'))) {
    return { fault: '`**` stands for whole folders. Write it between slashes, or `*` for part of a name' };
  }
  return { base: isHome ? 'home' : 'root', ...parsed };
}

function describeFault(pattern: string, isHome: boolean): string {
  if (pattern.length > PATTERN_CHARACTERS_MAX) return `is longer than ${PATTERN_CHARACTERS_MAX} characters`;
  if (UNSHOWN.test(pattern)) return 'has a character that is not shown';
  if (isHome || DRIVE.test(pattern) || pattern.startsWith('/')) {
    return 'has a part that no resolved path has: an empty one, `.`, `..`, or one that Windows does not take';
  }
  const isName = !/[/\\]/.test(pattern);
  return isName
    ? 'is a bare name, and whichever file has that name would match. Write the absolute path of the executable'
    : 'is relative, so it could never match. Write an absolute path, or one that starts with `~/`';
}
