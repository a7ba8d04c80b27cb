import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../core/json.ts';
import type { BaseRules } from '../core/rules.ts';
import { parseStrictJson, StrictJsonError } from '../core/strict_json.ts';
import { type PolicyPlaces, placesOf } from './places.ts';
import { type PolicySetProblem, problem } from './policy_set_error.ts';
import { findRepeatedIds, splitPolicyText } from './policy_text.ts';
import { parseToolFile } from './tool_registration.ts';

/** What a policy folder holds, and where in it each policy stands. */
export type FolderReading =
  | { kind: 'read'; base: BaseRules; places: PolicyPlaces }
  | { kind: 'refused'; problems: PolicySetProblem[] };

/**
 * Reads the rules of a policy folder, unchecked beyond what splitting them takes.
 * @throws the file system's own error when the folder cannot be read.
 */
export async function readPolicyFolder(directory: string): Promise<FolderReading> {
  const texts = await readFiles(directory, '', '.cedar');
  if (texts.length === 0) {
    const help = 'Set AEGIS_POLICY_DIR to a folder with policies.';
    return { kind: 'refused', problems: [problem(`no *.cedar file in \`${directory}\``, help)] };
  }
  const toolFiles = await readFiles(directory, 'tools', '.json');
  const split = texts.map(({ name, bytes }) => splitPolicyFile(name, bytes));
  const sources = split.flatMap((file) => file.policies);
  const read = toolFiles.map(({ name, bytes }) => readToolFile(name, bytes));
  const problems = [
    ...split.flatMap((file) => file.problems),
    ...findRepeatedIds(sources),
    ...read.flatMap((file) => file.problems),
  ];
  if (problems.length > 0) return { kind: 'refused', problems };
  const policies = Object.fromEntries(sources.map((source) => [source.id, source.text]));
  const tools = read.flatMap((file) => file.tools);
  return { kind: 'read', base: { policies, tools }, places: placesOf(sources) };
}

async function readFiles(directory: string, folder: string, ending: string) {
  const names = await readdir(join(directory, folder)).catch((error: NodeJS.ErrnoException) => {
    if (folder !== '' && error.code === 'ENOENT') return [];
    throw error;
  });
  const wanted = names.filter((name) => name.endsWith(ending)).toSorted();
  return Promise.all(
    wanted.map(async (name) => ({
      name: join(folder, name),
      bytes: await readFile(join(directory, folder, name)),
    })),
  );
}

/** A byte order mark stays in the text, where it is refused as any other invisible character. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function splitPolicyFile(source: string, bytes: Uint8Array): ReturnType<typeof splitPolicyText> {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    const refusal = problem('the file is not UTF-8', 'Save it as UTF-8.', { source });
    return { policies: [], problems: [refusal] };
  }
  return splitPolicyText(text, source);
}

function readToolFile(
  source: string,
  bytes: Uint8Array,
): { tools: JsonObject[]; problems: PolicySetProblem[] } {
  try {
    const file = parseToolFile(parseStrictJson(bytes));
    return file.kind === 'tools'
      ? { tools: file.tools.map((tool) => ({ ...tool })), problems: [] }
      : {
          tools: [],
          problems: file.issues.map(({ pointer, reason }) =>
            problem(`\`${pointer}\`: ${reason}`, null, { source, pointer }),
          ),
        };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return { tools: [], problems: [problem(error.message, 'Write the file as strict JSON.', { source })] };
  }
}
