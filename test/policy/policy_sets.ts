import { NOTHING_OF_ITS_OWN, type ToolPermission } from '../../src/core/rules.ts';
import type { ToolRegistration } from '../../src/core/tool_registration.ts';
import { compileRules } from '../../src/policy/compile.ts';
import { readPolicyFolder } from '../../src/policy/load.ts';
import { type OpenPolicySet, openRules } from '../../src/policy/open.ts';
import { locateProblems } from '../../src/policy/places.ts';
import { PolicySetError } from '../../src/policy/policy_set_error.ts';

/** A policy set from a folder, on this thread. @throws PolicySetError that names file, line and policy. */
export async function loadPolicySet(directory: string): Promise<OpenPolicySet> {
  const reading = await readPolicyFolder(directory);
  if (reading.kind === 'refused') throw new PolicySetError(reading.problems);
  const { base, places } = reading;
  const compilation = compileRules({ ...NOTHING_OF_ITS_OWN, base });
  if (compilation.kind === 'refused') throw new PolicySetError(locateProblems(compilation.problems, places));
  return openRules(compilation.compiled);
}

/** A policy set as texts by `@id` and registrations. */
export interface PolicySetInput {
  policies: Readonly<Record<string, string>>;
  tools: readonly ToolRegistration[];
  permissions?: readonly ToolPermission[];
}

/** A policy set from texts and registrations, on this thread. @throws PolicySetError that names every problem. */
export function buildPolicySet({ policies, tools, permissions = [] }: PolicySetInput): OpenPolicySet {
  const base = { policies: { ...policies }, tools: tools.map((tool) => ({ ...tool })) };
  const compilation = compileRules({ ...NOTHING_OF_ITS_OWN, base, permissions: [...permissions] });
  if (compilation.kind === 'refused') throw new PolicySetError(compilation.problems);
  return openRules(compilation.compiled);
}
