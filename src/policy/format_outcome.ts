import type { CallOutcome } from './cases.ts';

/** An outcome as one line: decision, what it demands, and the policies that made it. */
export function formatOutcome(outcome: CallOutcome): string {
  const { decision, determining_policies: policies, requirements, denied_by } = outcome;
  const demands = [
    ...(requirements === null ? [] : [requirements.votes === 1 ? '1 vote' : `${requirements.votes} votes`]),
    ...(requirements === null || requirements.groups.length === 0
      ? []
      : [`of ${requirements.groups.join(' and ')}`]),
    ...(requirements?.signature === 'webauthn' ? ['signed'] : []),
    ...(outcome.ttl_seconds == null ? [] : [`within ${outcome.ttl_seconds} s`]),
    ...(outcome.max_scope === undefined ? [] : [`at most ${outcome.max_scope}`]),
    ...(outcome.self_approval === undefined || outcome.self_approval.length === 0
      ? []
      : [`self-approval by ${outcome.self_approval.join(', ')}`]),
    ...(denied_by === null ? [] : [`by ${denied_by}`]),
  ];
  const terms = demands.length === 0 ? '' : ` (${demands.join(' ')})`;
  return `${decision}${terms}, decided by ${policies.length === 0 ? 'no policy' : policies.join(', ')}`;
}
