import { OperatorError } from '../../core/operator_error.ts';
import type { PolicySet } from '../../core/policy.ts';
import { type BaseRules, NOTHING_OF_ITS_OWN, type Rules, type RulesProblem } from '../../core/rules.ts';
import { compileRules } from '../../policy/compile.ts';
import { readPolicyFolder } from '../../policy/load.ts';
import { openRules } from '../../policy/open.ts';
import { locateProblems, type PolicyPlaces } from '../../policy/places.ts';
import { EnvReader } from '../config_values.ts';
import { listFolderFiles } from './folder_files.ts';

/** A policy folder as it was read: not known to be valid. */
export interface ReadFolder {
  directory: string;
  base: BaseRules;
  /** Where each policy begins. */
  places: PolicyPlaces;
}

/** A policy folder that is valid. */
export interface OpenedFolder extends ReadFolder {
  set: PolicySet;
}

/** A policy folder does not load, or its cases cannot be read. */
export class FolderRefused extends Error {
  readonly directory: string;
  readonly problems: readonly RulesProblem[];

  constructor(directory: string, problems: readonly RulesProblem[]) {
    super(`the policies in ${directory} are refused`);
    this.name = 'FolderRefused';
    this.directory = directory;
    this.problems = problems.toSorted(comparePlaces);
  }
}

/** By file, line and column; what has none of them first. */
function comparePlaces(a: RulesProblem, b: RulesProblem): number {
  const [fileA, fileB] = [a.source ?? '', b.source ?? ''];
  if (fileA !== fileB) return fileA < fileB ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

/** The folder a command was given, else that of AEGIS_POLICY_DIR. @throws OperatorError, ConfigError. */
export function findPolicyDirectory(given: string | undefined): string {
  if (given === '') throw new OperatorError('the name of the folder is empty. Give one, or none at all');
  return given ?? new EnvReader(process.env).path('AEGIS_POLICY_DIR', 'policies');
}

/**
 * Reads a policy folder.
 * @throws FolderRefused for texts that cannot be split into policies and tools that are none, OperatorError or the
 *   file system's error for a folder that cannot be read.
 */
export async function readFolder(directory: string): Promise<ReadFolder> {
  await listFolderFiles(directory, '', '.cedar');
  await listFolderFiles(directory, 'tools', '.json');
  const reading = await readPolicyFolder(directory);
  if (reading.kind === 'refused') throw new FolderRefused(directory, reading.problems);
  return { directory, base: reading.base, places: reading.places };
}

/** A folder's rules, or rules with a folder as their base, ready to decide. @throws FolderRefused. */
export function compileFolder(folder: ReadFolder, own: Omit<Rules, 'base'> = NOTHING_OF_ITS_OWN): PolicySet {
  const compilation = compileRules({ ...own, base: folder.base });
  if (compilation.kind === 'compiled') return openRules(compilation.compiled);
  throw new FolderRefused(folder.directory, locateProblems(compilation.problems, folder.places));
}

/** Reads and checks a policy folder. @throws as readFolder and compileFolder. */
export async function openFolder(directory: string): Promise<OpenedFolder> {
  const folder = await readFolder(directory);
  return { ...folder, set: compileFolder(folder) };
}
