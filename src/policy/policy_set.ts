import type { ToolPermission } from '../core/rules.ts';
import { compileRules } from './compile.ts';
import { type OpenPolicySet, openRules } from './open.ts';
import { PolicySetError } from './policy_set_error.ts';
import type { ToolRegistration } from './tool_registration.ts';

/** A policy set as texts and registrations, wherever they were kept. */
export interface PolicySetInput {
  /** Policy texts by `@id`, one policy each. */
  policies: Readonly<Record<string, string>>;
  tools: readonly ToolRegistration[];
  permissions?: readonly ToolPermission[];
}

/**
 * Checks a policy set and makes it ready to decide, on this thread. Throws a `PolicySetError` that names every
 * problem found, by policy.
 */
export function buildPolicySet({ policies, tools, permissions = [] }: PolicySetInput): OpenPolicySet {
  const base = { policies: { ...policies }, tools: tools.map((tool) => ({ ...tool })) };
  const compilation = compileRules({ base, policies: {}, tools: [], permissions: [...permissions] });
  if (compilation.kind === 'refused') throw new PolicySetError(compilation.problems);
  return openRules(compilation.compiled);
}
