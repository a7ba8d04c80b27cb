import type { AskStanding, PolicySet } from '../core/policy.ts';
import type { Flip, PastCall } from '../core/rules_ports.ts';

/** Nothing that people did since stands in the way: what is compared is what the policies say. */
const STANDING: AskStanding = { routable: true, deniedBefore: false };

/** Decides calls again that were decided before, under another set; those decided differently, in order. */
export function findFlips(set: PolicySet, calls: readonly PastCall[]): Flip[] {
  return calls.flatMap(({ kind, id, request, decided }) => {
    const first = set.decide(request);
    const { decision: to, determiningPolicies } =
      first.decision === 'require_approval' ? set.settleAsk(request, first, STANDING) : first;
    return to === decided ? [] : [{ kind, id, from: decided, to, determiningPolicies }];
  });
}
