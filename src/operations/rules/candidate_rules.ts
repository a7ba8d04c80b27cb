import type { Rules } from '../../core/rules.ts';
import type { Refused } from '../../core/rules_ports.ts';
import type { Deps } from '../deps.ts';
import { readCurrentRules } from './current_rules.ts';

/**
 * Reads a text as the tenant's next own policies, upon the tools and the base that are in force. Nothing is compiled
 * but the text's syntax, and nothing stored.
 */
export async function readCandidate(
  deps: Deps,
  tenantId: string,
  text: string,
): Promise<{ kind: 'rules'; rules: Rules } | Refused> {
  const split = await deps.compiler.splitText(text);
  if (split.kind === 'refused') return split;
  const { rules } = await readCurrentRules(deps.revisions, tenantId);
  return { kind: 'rules', rules: { ...rules, policies: split.policies } };
}
