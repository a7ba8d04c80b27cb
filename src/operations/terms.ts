import type { AskTerms, Decision } from '../core/policy.ts';

/** What an action needs that policy would allow outright, once a person has changed it: one vote all the same. */
const ONE_VOTE: AskTerms = {
  requirements: { votes: 1, groups: [], signature: 'none' },
  ttlSeconds: null,
  selfApproval: [],
  maxScope: 'once',
};

/** The terms on which an approval goes on under a decision made anew; undefined for a deny. */
export function termsOf(decision: Decision): AskTerms | undefined {
  if (decision.decision === 'deny') return undefined;
  return decision.decision === 'require_approval' ? decision.terms : ONE_VOTE;
}
