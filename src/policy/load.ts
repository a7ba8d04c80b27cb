import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PolicySet } from '../core/policy.ts';
import { parseStrictJson, StrictJsonError } from '../core/strict_json.ts';
import { buildPolicySet } from './policy_set.ts';
import { PolicySetError, type PolicySetProblem, problem } from './policy_set_error.ts';
import { type PolicySource, splitPolicyText } from './policy_text.ts';
import { parseToolFile, type ToolRegistration } from './tool_registration.ts';

/**
 * Loads a policy set from a folder: every `*.cedar` file in it, and every `*.json` file in its `tools` folder.
 * Throws a `PolicySetError` that names file, line and policy of every problem found; a folder that cannot be
 * read is the file system's own error.
 */
export async function loadPolicySet(directory: string): Promise<PolicySet> {
  const texts = await readFiles(directory, '', '.cedar');
  if (texts.length === 0) {
    throw new PolicySetError([
      problem(`no *.cedar file in \`${directory}\``, 'Set AEGIS_POLICY_DIR to a folder with policies.'),
    ]);
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
  if (problems.length > 0) {
    throw new PolicySetError(problems);
  }
  const policies = Object.fromEntries(sources.map((source) => [source.id, source.text]));
  return buildLocated(
    policies,
    read.flatMap((file) => file.tools),
    sources,
  );
}

/** Builds the set; a problem of a policy is told with the file and line that the policy came from. */
function buildLocated(
  policies: Record<string, string>,
  tools: readonly ToolRegistration[],
  sources: readonly PolicySource[],
): PolicySet {
  try {
    return buildPolicySet({ policies, tools });
  } catch (error) {
    if (!(error instanceof PolicySetError)) throw error;
    const placeById = new Map(sources.map(({ id, source, line }) => [id, { source, line }]));
    throw new PolicySetError(
      error.problems.map((found) => ({ ...found, ...placeById.get(found.policyId ?? '') })),
    );
  }
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

function findRepeatedIds(sources: readonly PolicySource[]): PolicySetProblem[] {
  const first = new Map<string, PolicySource>();
  return sources.flatMap((policy) => {
    const earlier = first.get(policy.id);
    if (earlier === undefined) {
      first.set(policy.id, policy);
      return [];
    }
    const help = `Rename one; the other is at ${earlier.source}:${earlier.line}.`;
    const { id: policyId, source, line } = policy;
    return [problem('its `@id` is taken', help, { policyId, source, line })];
  });
}

function readToolFile(
  source: string,
  bytes: Uint8Array,
): { tools: ToolRegistration[]; problems: PolicySetProblem[] } {
  try {
    const file = parseToolFile(parseStrictJson(bytes));
    return file.kind === 'tools'
      ? { tools: file.tools, problems: [] }
      : {
          tools: [],
          problems: file.issues.map(({ pointer, reason }) =>
            problem(`\`${pointer}\`: ${reason}`, null, { source }),
          ),
        };
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    return { tools: [], problems: [problem(error.message, 'Write the file as strict JSON.', { source })] };
  }
}
