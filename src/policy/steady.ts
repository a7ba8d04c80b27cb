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
 * Whether a policy reads nothing of a call that differs from one call to the next, as parameters and the resource do:
 * what Cedar answers under such policies is mostly what it answered before.
 */
export function isSteady(policy: PolicyJson): boolean {
  const { resourceId, context } = readsOf([policy]);
  return !resourceId && context !== 'all' && [...context.keys()].every((name) => STEADY_FACTS.has(name));
}
