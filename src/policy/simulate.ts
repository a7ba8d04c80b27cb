import type { PolicySet } from '../core/policy.ts';
import type { Flip, PastCall } from '../core/rules_ports.ts';
import { decideSettled, NOTHING_IN_THE_WAY } from '../core/settled_decision.ts';

/**
 * Decides calls again that were decided before, under another set; those decided differently, in order. What is
 * compared is what the policies say.
 */
export function findFlips(set: PolicySet, calls: readonly PastCall[]): Flip[] {
  return calls.flatMap(({ kind, id, request, decided }) => {
    const { decision: to, determiningPolicies } = decideSettled(set, request, NOTHING_IN_THE_WAY);
    return to === decided ? [] : [{ kind, id, from: decided, to, determiningPolicies }];
  });
}
