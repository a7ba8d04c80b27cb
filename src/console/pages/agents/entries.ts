import type { DenialRecord, Grant } from '../../../core/agent_ports.ts';
import type { Approval, Vote } from '../../../core/approval.ts';
import type { Timeline } from '../../../operations/agent_timeline.ts';

/** One thing that happened, with the approval it happened to. */
export interface Entry {
  at: Date;
  what: string;
  approval: Approval | null;
  /** Words of a person or of the agent. */
  said: string | null;
}

function ofVote(approval: Approval, { decision, approver, scope, reason, at }: Vote): Entry {
  const how = scope === 'once' ? '' : `, for the ${scope}`;
  const what = decision === 'approve' ? `approved by ${approver}${how}` : `rejected by ${approver}`;
  return { at, what, approval, said: reason };
}

function ofApproval(approval: Approval): Entry[] {
  const { createdAt, edits, votes, status, decidedAt, decidedBy, decisionReason } = approval;
  const { consumedAt, outcome, expiresAt } = approval;
  const add = (at: Date | null, what: string, said: string | null = null): Entry[] =>
    at === null ? [] : [{ at, what, approval, said }];
  return [
    ...add(createdAt, 'asked for', approval.context.justification),
    ...edits.flatMap(({ editor, reason, at }) => add(new Date(at), `edited by ${editor}`, reason)),
    ...votes.map((vote) => ofVote(approval, vote)),
    ...(status === 'cancelled'
      ? add(decidedAt, `taken back by ${decidedBy ?? 'nobody'}`, decisionReason)
      : []),
    ...add(consumedAt, 'used'),
    ...(outcome === null
      ? []
      : add(new Date(outcome.reported_at), `reported as ${outcome.outcome}`, outcome.detail)),
    ...(status === 'expired' ? add(expiresAt, 'expired') : []),
    ...(status === 'voided'
      ? add(decidedAt ?? createdAt, `voided since: ${approval.voidReason?.replaceAll('_', ' ')}`)
      : []),
  ];
}

function ofGrant({ createdAt, grantedBy, scope, resolved }: Grant): Entry {
  const what = `granted by ${grantedBy} for the ${scope}: ${resolved.tool} ${resolved.action}`;
  return { at: createdAt, what, approval: null, said: null };
}

function ofDenial({ createdAt, deniedBy, resolved, reason }: DenialRecord): Entry {
  const what = `rejection by ${deniedBy} entered, which holds: ${resolved.tool} ${resolved.action}`;
  return { at: createdAt, what, approval: null, said: reason };
}

/** What happened in the stretch of time that a page of approvals covers, newest first. */
export function toEntries(
  { approvals, grants, denials, next, agentPausedAt, session }: Timeline,
  isFirst: boolean,
): Entry[] {
  const from = next === null ? null : (approvals.at(-1)?.createdAt ?? null);
  const to = isFirst ? null : (approvals[0]?.createdAt ?? null);
  const isCovered = ({ at }: Entry): boolean => (from === null || at >= from) && (to === null || at <= to);
  const pauses = [
    ...(agentPausedAt === null ? [] : [{ at: agentPausedAt, what: 'the whole agent was paused' }]),
    ...(session?.pausedAt == null ? [] : [{ at: session.pausedAt, what: 'the session was paused' }]),
  ].map((pause): Entry => ({ ...pause, approval: null, said: null }));
  const beside = [...(grants ?? []).map(ofGrant), ...(denials ?? []).map(ofDenial), ...pauses];
  return [...approvals.flatMap(ofApproval), ...beside.filter(isCovered)].toSorted(
    (a, b) => b.at.getTime() - a.at.getTime(),
  );
}
