import type { PolicyJson } from './cedar.ts';
import { readsOf } from './reads.ts';

/** What of the context one agent's calls of one action mostly have in common. */
const STEADY_FACTS: ReadonlySet<string> = new Set([
  'tool',
  'tier',
  'source_trust',
  'contains_sensitive_data',
  'unattended',
  'paused',
  'environment',
  'workspace',
  'routable',
  'denied_before',
]);

/**
 * When a policy reads nothing of a call that differs from one call to the next, as parameters and the resource do: what
 * Cedar answers under such policies is mostly what it answered before. A command differs, where a tool runs commands.
 */
export type Steadiness = 'always' | 'without commands' | 'never';

export function steadinessOf(policy: PolicyJson): Steadiness {
  const { resourceId, context } = readsOf([policy]);
  if (resourceId || context === 'all') return 'never';
  const differing = [...context.keys()].filter((name) => !STEADY_FACTS.has(name));
  if (differing.length === 0) return 'always';
  return differing.every((name) => name === 'command') ? 'without commands' : 'never';
}
