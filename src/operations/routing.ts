import type { Approver, AskDecision, PolicySet, Requirements } from '../core/policy.ts';
import {
  areRequirementsMet,
  type CountedVote,
  countPlaces,
  fillsOpenPlace,
  findOpenGroups,
} from '../core/requirements.ts';

/** An ask as far as it says who may answer it. */
export interface RoutedAsk {
  agent: string;
  owner: string | null;
  environment: string | null;
}

/** Whether an ask could be answered; if not, `lacking` says what is missing and what an operator can do. */
export type Routing = { isRoutable: true } | { isRoutable: false; lacking: string };

function describeLack(requirements: Requirements, votes: readonly CountedVote[]): string {
  const open = findOpenGroups(requirements, votes);
  const who =
    open.length > 0
      ? `no approver of ${open.map((group) => `\`${group}\``).join(' or ')} who may vote on it has a key that stands`
      : `${votes.length} of the ${countPlaces(requirements)} approvers it needs have a key that stands`;
  return `${who}. An operator makes one with \`POST /v1/keys\`, or sets groups with \`PUT /v1/principals/:id\``;
}

/**
 * Whether the principals at hand could give all the votes that an ask wants, each as far as policy lets it. Nobody is
 * asked: it only tells an ask that could be answered from one that would wait in vain.
 */
export function routeAsk(
  policy: PolicySet,
  ask: AskDecision,
  routed: RoutedAsk,
  approvers: readonly Approver[],
): Routing {
  const { requirements, selfApproval } = ask.terms;
  const approval = {
    approvalId: '',
    ...routed,
    editors: [],
    resolved: ask.resolved,
    requiredGroups: requirements.groups,
    selfApproval,
    hasOwnVote: false,
  };
  const votes: CountedVote[] = [];
  for (const approver of approvers) {
    const vote = { approver: approver.principal, groups: approver.groups };
    if (!fillsOpenPlace(requirements, votes, vote)) continue;
    if (policy.judgeApprover({ action: 'approve', approver, approval }).kind === 'permitted')
      votes.push(vote);
    if (areRequirementsMet(requirements, votes)) return { isRoutable: true };
  }
  return { isRoutable: false, lacking: describeLack(requirements, votes) };
}
