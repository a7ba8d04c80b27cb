import type { AskDecision, Contribution } from '../core/policy.ts';

/** One thing that an ask demands, and the policies whose annotations demand it; none when it is the default. */
export interface AskOrigin {
  demand: string;
  value: string;
  policies: string[];
}

type Annotated = Pick<Contribution, 'policyId' | 'annotations'>;

/** Where each demand of an ask comes from, among the policies that had to do with it. */
export function findAskOrigins({ terms }: AskDecision, contributions: readonly Contribution[]): AskOrigin[] {
  const asks = contributions.filter(
    ({ applied, effect, annotations }) =>
      applied && effect === 'permit' && annotations.decision !== undefined,
  );
  const { requirements, ttlSeconds, maxScope, selfApproval } = terms;
  const named = (name: string, value: string) => idsOf(asks.filter((ask) => ask.annotations[name] === value));
  return [
    votesOrigin(requirements.votes, asks),
    ...requirements.groups.map((group) => ({
      demand: 'group',
      value: group,
      policies: idsOf(asks.filter((ask) => groupsOf(ask).includes(group))),
    })),
    {
      demand: 'signature',
      value: requirements.signature,
      policies: named('signature', requirements.signature),
    },
    {
      demand: 'ttl_seconds',
      value: ttlSeconds === null ? "the service's own" : String(ttlSeconds),
      policies: ttlSeconds === null ? [] : named('ttl_seconds', String(ttlSeconds)),
    },
    { demand: 'max_scope', value: maxScope, policies: named('max_scope', maxScope) },
    {
      demand: 'self_approval',
      value: selfApproval.length === 0 ? 'none' : selfApproval.join(', '),
      policies:
        selfApproval.length === 0
          ? []
          : idsOf(asks.filter((ask) => ask.annotations.self_approval !== undefined)),
    },
  ];
}

/** Votes are the most that one ask wants, and no fewer than there are groups. */
function votesOrigin(votes: number, asks: readonly Annotated[]): AskOrigin {
  const wanting = asks.filter((ask) => ask.annotations.votes === String(votes));
  const grouped = asks.filter((ask) => groupsOf(ask).length > 0);
  const isByGroups = wanting.length === 0 && votes > 1;
  return { demand: 'votes', value: String(votes), policies: idsOf(isByGroups ? grouped : wanting) };
}

function groupsOf({ annotations }: Annotated): string[] {
  return (annotations.groups ?? '')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
}

function idsOf(asks: readonly Annotated[]): string[] {
  return asks.map(({ policyId }) => policyId);
}
