import type { AllowlistEntry } from '../../core/exec_approvals.ts';
import {
  type AbsolutePath,
  ANY_COMPONENTS,
  type PathPattern,
  parseAbsolutePath,
  parsePathPattern,
} from '../../core/exec_approvals_pattern.ts';

/** How many comparisons may still be made; at none nothing matches any more. */
export interface Effort {
  left: number;
}

/** Finds the first entry of a list that matches a resolved path. */
export type EntryFinder = (path: string, effort: Effort) => AllowlistEntry | undefined;

/**
 * Tells which entry of an allowlist matches a resolved path. `*` and `?` stand for any text and one character within a
 * component, `**` for any number of components, at the end for at least one; `~/` for any usual home, since the host is
 * elsewhere. Case as the platform of the path has it: exact, and on Windows any of ASCII. A path or pattern that is not
 * absolute, or has `.`, `..` or empty components or characters that are not shown, never matches.
 */
export function createEntryFinder(entries: readonly AllowlistEntry[]): EntryFinder {
  const plain = new Map<string, Listed>();
  const wild: WildEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const pattern = parsePathPattern(entry.pattern);
    if ('fault' in pattern) continue;
    const listed = { index, entry };
    if (pattern.base === 'home' || pattern.components.some(isWild)) wild.push(toWild(listed, pattern));
    else if (!plain.has(toKey(pattern))) plain.set(toKey(pattern), listed);
  }
  return (text, effort) => {
    const path = parseAbsolutePath(text);
    if (path === undefined) return undefined;
    const exact = plain.get(toKey(path));
    const found = findWild(wild, fold(path), exact?.index ?? entries.length, effort);
    return effort.left > 0 ? (found ?? exact)?.entry : undefined;
  };
}

interface Listed {
  index: number;
  entry: AllowlistEntry;
}

/** An entry with wildcards, or in a home, which is one of several. */
interface WildEntry extends Listed {
  isHome: boolean;
  drive: string | null;
  /** As held against paths of POSIX, and against those of Windows. */
  posix: Components;
  windows: Components;
}

interface Components {
  components: readonly string[];
  /** The name itself, if it is one without wildcards. */
  name: string | null;
}

function toWild(listed: Listed, { base, drive, components }: PathPattern): WildEntry {
  // A pattern with `~/` is written for no platform: it takes that of the path.
  const folded = components.flatMap((component) => foldText(component).split('\\'));
  const isHome = base === 'home';
  return { ...listed, isHome, drive, posix: toComponents(components), windows: toComponents(folded) };
}

function toComponents(components: readonly string[]): Components {
  const name = components.at(-1) ?? '';
  // A path names something: `/opt/**` is what lies below, not `/opt` itself.
  if (name === ANY_COMPONENTS) return { components: [...components, '*'], name: null };
  return { components, name: isWild(name) ? null : name };
}

function findWild(
  wild: readonly WildEntry[],
  path: AbsolutePath,
  before: number,
  effort: Effort,
): Listed | undefined {
  const inHome = findInHome(path);
  const name = path.components.at(-1);
  for (const one of wild) {
    if (one.index >= before) return undefined;
    effort.left -= 1;
    const pattern = path.drive === null ? one.posix : one.windows;
    // Most that differ at all differ in the name.
    if (pattern.name !== null && pattern.name !== name) continue;
    const components = one.isHome ? inHome : path.components;
    if (components === undefined || (!one.isHome && one.drive !== path.drive)) continue;
    const matchOne = (wanted: string, component: string) => matchComponent(wanted, component, effort);
    if (matchList(pattern.components, components, ANY_COMPONENTS, matchOne, effort)) return one;
  }
  return undefined;
}

const WILD = /[*?]/;

function isWild(component: string): boolean {
  return WILD.test(component);
}

/** Windows compares without case; beyond ASCII its table is its own, so that there only equal text is equal. */
function foldText(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function fold({ drive, components }: AbsolutePath): AbsolutePath {
  return drive === null ? { drive, components } : { drive, components: components.map(foldText) };
}

function toKey(path: AbsolutePath): string {
  const { drive, components } = fold(path);
  return `${drive ?? ''}/${components.join('/')}`;
}

/** What a path names within a usual home directory; undefined outside of one. */
function findInHome({ drive, components }: AbsolutePath): string[] | undefined {
  const isRoots = drive === null && components[0] === 'root';
  const homes = drive === null ? ['home', 'Users'] : ['users'];
  if (!isRoots && !homes.includes(components[0] ?? '')) return undefined;
  const inside = components.slice(isRoots ? 1 : 2);
  return inside.length > 0 ? inside : undefined;
}

function matchComponent(wanted: string, component: string, effort: Effort): boolean {
  effort.left -= 1;
  if (wanted === '*' || !WILD.test(wanted)) return wanted === '*' || wanted === component;
  const isSame = (want: string, character: string) => want === '?' || want === character;
  return matchList([...wanted], [...component], '*', isSame, effort);
}

/**
 * Matches items with stars, each for any number of them. After a mismatch only the last star takes one more: an earlier
 * one could gain nothing by it. So no two positions are compared twice.
 */
function matchList(
  pattern: readonly string[],
  items: readonly string[],
  star: string,
  matchesItem: (wanted: string, item: string) => boolean,
  effort: Effort,
): boolean {
  let wanted = 0;
  let afterStar: { wanted: number; at: number } | undefined;
  for (let at = 0; at < items.length; ) {
    effort.left -= 1;
    if (effort.left <= 0) return false;
    const want = pattern[wanted];
    if (want === star) {
      wanted += 1;
      afterStar = { wanted, at };
    } else if (want !== undefined && matchesItem(want, items[at] ?? '')) {
      wanted += 1;
      at += 1;
    } else if (afterStar !== undefined) {
      afterStar.at += 1;
      ({ wanted, at } = afterStar);
    } else {
      return false;
    }
  }
  return pattern.slice(wanted).every((rest) => rest === star);
}
