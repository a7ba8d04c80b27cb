import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type JsonLimits, parseStrictJson, StrictJsonError } from '../core/strict_json.ts';
import { type CaseFile, parseCaseFile } from './case_file.ts';
import { PolicySetError, type PolicySetProblem, problem } from './policy_set_error.ts';

export type LoadedCases = CaseFile & { source: string };

/** A file holds many requests' worth. */
const LIMITS: JsonLimits = { levelsMax: 64, membersMax: 1_000_000 };

/**
 * Loads the cases beside a folder's policies: every `*.json` file in its `cases` folder, which may be missing.
 * @throws PolicySetError that names file and place of every problem; the file system's error for what cannot be read.
 */
export async function loadCases(directory: string): Promise<LoadedCases[]> {
  const names = await readdir(join(directory, 'cases')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files: LoadedCases[] = [];
  const problems: PolicySetProblem[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).toSorted()) {
    const source = join('cases', name);
    const read = readCaseFile(await readFile(join(directory, source)), source);
    if (read.kind === 'cases') files.push({ source, ...read.file });
    else problems.push(...read.problems);
  }
  if (problems.length > 0) throw new PolicySetError(problems);
  return files;
}

function readCaseFile(bytes: Uint8Array, source: string): ReturnType<typeof parseCaseFile> {
  try {
    return parseCaseFile(parseStrictJson(bytes, LIMITS), source);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const help = 'Write the file as strict JSON.';
    return { kind: 'refused', problems: [problem(error.message, help, { source })] };
  }
}
