import type { AskStanding, Decision, DecisionRequest, PolicySet } from './policy.ts';

/** Policy's own word: nothing that people did since, and nobody's absence, stands in the way of an ask. */
export const NOTHING_IN_THE_WAY: AskStanding = { routable: true, deniedBefore: false };

/** Decides a call, and settles what policy asks: the decision where no grant answers. */
export function decideSettled(
  policy: Pick<PolicySet, 'decide' | 'settleAsk'>,
  request: DecisionRequest,
  standing: AskStanding,
): Decision {
  const decision = policy.decide(request);
  return decision.decision === 'require_approval' ? policy.settleAsk(request, decision, standing) : decision;
}
