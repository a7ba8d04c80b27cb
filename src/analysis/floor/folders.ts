import type { Word } from '../command/analysis.ts';
import { UNKNOWN } from './marks.ts';
import { placeOf, resolvePath, splitAbsolute } from './protected_paths.ts';
import { lookUp, type Scope } from './scope.ts';

const FOLDERS_MAX = 16;
const LENGTH_MAX = 256;

type Folders = readonly (string | null)[];

/** The folder without detours; one that is very deep counts as not known. */
function tidy(path: string): string | null {
  const folder = `/${splitAbsolute(path).join('/')}`;
  return folder.length > LENGTH_MAX ? null : folder;
}

/** Where a shell stands after `cd` with these operands. An unset variable that is not quoted leads home. */
function targetsOf(args: readonly string[], word: Word | undefined, scope: Scope): Folders {
  const operands = args.filter((arg) => !/^-[LPe@]+$|^--$|^[-+]\d+$/.test(arg));
  const home = lookUp('HOME', scope).values;
  if (operands.length === 0) return home;
  return operands.flatMap((operand): Folders => {
    if (operand === '-') return [null];
    if (operand === UNKNOWN) return [null, ...(word?.text.startsWith('"') ? scope.folders : home)];
    const path = operand.replaceAll(UNKNOWN, '');
    const resolved = resolvePath(path, scope.folders);
    return resolved.length === 0 ? [null] : resolved.map(tidy);
  });
}

/** As few folders as tell the same: those that matter first. */
function keepFew(folders: Folders, scope: Scope): Folders {
  const distinct = [...new Set(folders)];
  if (distinct.length <= FOLDERS_MAX) return distinct;
  const ground = { folders: [null], home: scope.home };
  const matter = distinct.filter((folder) => folder !== null && placeOf(folder, ground) !== null);
  return [...matter.slice(0, FOLDERS_MAX), null];
}

/** The folders after a change that surely succeeds. */
export function foldersAfter(args: readonly string[], word: Word | undefined, scope: Scope): Folders {
  return keepFew(targetsOf(args, word, scope), scope);
}

export function joinFolders(one: Folders, other: Folders, scope: Scope): Folders {
  return keepFew([...one, ...other], scope);
}
